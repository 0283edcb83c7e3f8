//! Trials of walls: each runs a command that would get through a missing wall.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sortie_sandbox::process::{Environment, Tier, Walls};

use super::trial_directory::{AS_IT_WAS, TrialDirectory, finish};

/// Result of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Stands(&'static str),
    /// The wall is missing, as expected without namespaces.
    Lacks(&'static str),
    /// The wall is missing, though it should always stand.
    Falls(&'static str),
    Untried(String),
}

impl Verdict {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Stands(what) => format!("stands: {what}"),
            Self::Lacks(what) | Self::Falls(what) => format!("does not stand: {what}"),
            Self::Untried(why) => format!("could not be tried: {why}"),
        }
    }
}

pub(super) struct Trial {
    pub(super) subject: &'static str,
    pub(super) verdict: fn(&TrialDirectory<'_>, Tier) -> Verdict,
}

pub(super) const ALL: &[Trial] = &[
    Trial { subject: "wall namespaces", verdict: namespaces },
    Trial { subject: "wall system calls", verdict: system_calls },
    Trial { subject: "wall files", verdict: files },
    Trial { subject: "wall protected", verdict: protected },
    Trial { subject: "wall /tmp", verdict: temporary },
    Trial { subject: "wall processes", verdict: processes },
    Trial { subject: "wall network", verdict: network },
    Trial { subject: "wall environment", verdict: environment },
    Trial { subject: "wall end", verdict: end },
];

/// Judges the output of a command run in the workspace under ordinary conditions.
fn on_output(yard: &TrialDirectory<'_>, tier: Tier, command: &str, verdict: impl FnOnce(&str) -> Verdict) -> Verdict {
    match yard.run(tier, &yard.walls(), command) {
        Ok(output) => verdict(&output),
        Err(why) => Verdict::Untried(why),
    }
}

/// Separate mounts and processes, and separate users if the others need that.
fn namespaces(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    on_output(yard, tier, "readlink /proc/self/ns/mnt /proc/self/ns/pid /proc/self/ns/user", |output| {
        let own = |name: &str| fs::read_link(Path::new("/proc/self/ns").join(name)).unwrap_or_default();
        let [mounts, processes, users] = ["mnt", "pid", "user"].map(|name| own(name).display().to_string());
        let seen: Vec<&str> = output.lines().collect();
        match seen[..] {
            [mount, process, _] if mount == mounts || process == processes => {
                Verdict::Lacks("a command is in the same namespaces as everything else")
            }
            [_, _, user] if user == users => Verdict::Stands("mounts and processes of its own"),
            [_, _, _] => Verdict::Stands("mounts, processes and users of its own"),
            _ => Verdict::Untried(format!("no namespaces are reported: {output}")),
        }
    })
}

/// The kernel's own status of the filter and the privileges, and a system call that is refused whatever the kernel's
/// settings.
fn system_calls(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    let command = "cat /proc/self/status; unshare --user true 2>/dev/null && echo unshared";
    on_output(yard, tier, command, |output| {
        let says = |name: &str, value: &str| output.lines().any(|line| line == format!("{name}:\t{value}"));
        if !output.contains("Seccomp:") {
            return Verdict::Untried("the kernel does not report it".to_owned());
        }
        let confined = says("Seccomp", "2") && says("NoNewPrivs", "1") && says("CapEff", "0000000000000000");
        if confined && !output.contains("unshared") {
            Verdict::Stands("they are filtered, without privileges or a way to any")
        } else {
            Verdict::Falls("a command can make system calls that it should not")
        }
    })
}

/// Nothing outside the workspace can be written, not even the mode of a file.
pub(super) fn files(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    let (outside, beside) = (&yard.outside, yard.outside.with_extension("new"));
    let command = format!(
        "echo changed > '{0}'; chmod 751 '{0}'; echo new > '{1}'; echo inside > inside",
        outside.display(),
        beside.display()
    );
    on_output(yard, tier, &command, |output| {
        if !yard.root.join("inside").exists() {
            return Verdict::Untried(format!("nothing can be written in the workspace either: {output}"));
        }
        let has_its_mode = outside.metadata().is_ok_and(|found| found.permissions().mode() & 0o777 != 0o751);
        if has_its_mode && fs::read_to_string(outside).is_ok_and(|text| text == AS_IT_WAS) && !beside.exists() {
            Verdict::Stands("nothing outside the workspace can be written")
        } else {
            Verdict::Falls("a command wrote outside the workspace")
        }
    })
}

/// Protected files in the workspace cannot change, nor be created.
fn protected(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    let (config, settings) = (yard.root.join(".git/config"), yard.root.join(".sortie"));
    let made = fs::create_dir_all(yard.root.join(".git")).and_then(|()| fs::write(&config, AS_IT_WAS));
    if let Err(error) = made {
        return Verdict::Untried(error.to_string());
    }
    let walls = Walls { protected: vec![config.clone(), settings.clone()], ..yard.walls() };
    let command = "echo changed > .git/config; mkdir .sortie; echo changed > .sortie/config.toml; echo tried";
    match yard.run(tier, &walls, command) {
        Err(why) => Verdict::Untried(why),
        Ok(output) if !output.contains("tried") => Verdict::Untried(output),
        Ok(_) if fs::read_to_string(&config).is_ok_and(|text| text == AS_IT_WAS) && !settings.exists() => {
            Verdict::Stands(".git/config stays as it is, and .sortie cannot be made")
        }
        Ok(_) => Verdict::Falls("a command changed protected files"),
    }
}

/// The command's `/tmp` is its own.
fn temporary(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    let marker = Marker(Path::new("/tmp").join(&yard.name).with_extension("marker"));
    if let Err(error) = File::create_new(&marker.0) {
        return Verdict::Untried(error.to_string());
    }
    let made = Marker(marker.0.with_extension("made"));
    let command = format!("test -e {} && echo seen; echo tried > {}", marker.0.display(), made.0.display());
    on_output(yard, tier, &command, |output| {
        if made.0.exists() {
            Verdict::Falls("a command writes in the machine's own")
        } else if output.contains("seen") {
            Verdict::Lacks("a command sees the machine's own, though it cannot write there")
        } else {
            Verdict::Stands("a command has its own")
        }
    })
}

/// File that is removed on drop, whoever made it.
struct Marker(PathBuf);

impl Drop for Marker {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

/// This process is invisible to the command.
fn processes(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    /// Number, name and start time of a process, which together identify it.
    fn identity(stat: &str) -> Option<(&str, &str)> {
        let (name, rest) = stat.rsplit_once(')')?;
        Some((name, rest.split_whitespace().nth(19)?))
    }
    let own = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let Some(own) = identity(&own) else { return Verdict::Untried("/proc is not there".to_owned()) };
    let command = format!("cat /proc/[0-9]*/stat; kill -0 {} 2>/dev/null && echo touched", std::process::id());
    on_output(yard, tier, &command, |output| {
        let mut seen = output.lines().filter_map(identity).peekable();
        if seen.peek().is_none() {
            return Verdict::Untried(format!("no process is seen: {output}"));
        }
        // In another namespace the number alone belongs to another process.
        match (seen.any(|process| process == own), output.contains("touched")) {
            (false, _) => Verdict::Stands("a command sees only its own"),
            (true, false) => Verdict::Lacks("a command sees the machine's processes, though it cannot touch them"),
            (true, true) => Verdict::Lacks("a command sees the machine's processes, and can send signals to yours"),
        }
    })
}

/// Even this machine is unreachable. Nobody has to listen: an existing socket would answer differently.
fn network(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    on_output(yard, tier, "exec 3<>/dev/tcp/127.0.0.1/1 && echo connected", |output| {
        if output.contains("not permitted") || output.contains("unreachable") {
            Verdict::Stands("nothing can be reached unless it is granted")
        } else if output.contains("connected") || output.contains("refused") {
            Verdict::Falls("a command can reach the network")
        } else {
            Verdict::Untried(format!("this bash has no way to the network: {output}"))
        }
    })
}

/// No key, and no variable that would put a program under another's control.
fn environment(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    const CANARY: &str = "sortie-doctor-canary";
    const NAMES: [&str; 5] = ["ANTHROPIC_API_KEY", "BASH_ENV", "GIT_DIR", "LD_PRELOAD", "SSH_AUTH_SOCK"];
    let variables = NAMES.iter().map(|name| (name.into(), CANARY.into()));
    let environment = Environment::scrubbed(variables, &[]);
    match finish(yard.start_with(tier, &yard.walls(), &environment, "env")) {
        Err(why) => Verdict::Untried(why),
        Ok(output) if output.contains(CANARY) => Verdict::Falls("a command gets variables that it should not"),
        Ok(output) if output.contains("PATH=") => {
            Verdict::Stands("no key reaches a command, nor a variable that controls programs")
        }
        Ok(output) => Verdict::Untried(output),
    }
}

/// Processes that leave the session and ignore signals still end with their command.
fn end(yard: &TrialDirectory<'_>, tier: Tier) -> Verdict {
    // Sleep time that no other process uses.
    let marker = yard.name.chars().filter(char::is_ascii_digit).collect::<String>();
    let command = format!(
        "trap '' HUP TERM; $(command -v setsid) sleep {marker} </dev/null >/dev/null 2>&1 & \
         until [[ \"$(tr '\\0' ' ' < /proc/$!/cmdline)\" == \"sleep {marker} \" ]]; do :; done; echo sleeps"
    );
    on_output(yard, tier, &command, |output| {
        if !output.contains("sleeps") {
            return Verdict::Untried(format!("nothing was left running: {output}"));
        }
        let over = Instant::now() + Duration::from_secs(2);
        while is_asleep(&marker) {
            if Instant::now() >= over {
                return Verdict::Falls("processes that a command left running continue");
            }
            std::thread::yield_now();
        }
        Verdict::Stands("all processes of a command end with it")
    })
}

fn is_asleep(marker: &str) -> bool {
    let command_line = format!("sleep\0{marker}\0");
    let is_one = |process: fs::DirEntry| {
        fs::read(process.path().join("cmdline")).is_ok_and(|read| read == command_line.as_bytes())
    };
    fs::read_dir("/proc").is_ok_and(|processes| processes.filter_map(Result::ok).any(is_one))
}
