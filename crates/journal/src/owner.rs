//! The process that writes a task, named so that a reused pid is not mistaken for it.

use std::sync::OnceLock;

/// A process: its pid and when it started, in the system's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> Self {
        static CURRENT: OnceLock<Owner> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let pid = std::process::id();
            Self { pid, started: start_of(pid).unwrap_or_default() }
        })
    }

    pub(crate) fn is_alive(self) -> bool {
        // Where `/proc` is missing nothing is known about others, but this process surely lives.
        self == Self::current() || start_of(self.pid) == Some(self.started)
    }
}

/// When the process started: clock ticks since boot, marked with the boot; `None` if there is no such process.
#[cfg(target_os = "linux")]
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    // A zombie has ended; only its parent has not noticed yet.
    let ended = matches!(state, "Z" | "X");
    // `state` is field 3 of proc(5), the start time is field 22.
    let ticks: u64 = fields.nth(18)?.parse().ok()?;
    (!ended).then(|| ticks ^ boot())
}

/// A number for this run of the kernel: ticks begin anew with each one.
#[cfg(target_os = "linux")]
fn boot() -> u64 {
    static BOOT: OnceLock<u64> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(12).collect();
        u64::from_str_radix(&digits, 16).unwrap_or_default()
    })
}

/// Start times are not asked for here: that a process with this pid exists is enough.
#[cfg(all(unix, not(target_os = "linux")))]
fn start_of(pid: u32) -> Option<u64> {
    use rustix::process::{Pid, test_kill_process};
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    match test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(0),
        Err(_) => None,
    }
}

/// Other processes cannot be asked for here; their unended tasks count as interrupted.
#[cfg(not(unix))]
fn start_of(_pid: u32) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        assert!(Owner::current().is_alive());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_is_alive_until_it_is_killed_even_before_it_is_reaped() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner { pid: child.id(), started: start_of(child.id()).unwrap() };
        assert!(owner.is_alive());
        child.kill().unwrap();
        while owner.is_alive() {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new(&format!("/proc/{}", owner.pid)).exists(), "it is still a zombie");
        child.wait().unwrap();
        assert!(!owner.is_alive());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reused_pid_is_not_mistaken_for_its_former_owner() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = start_of(child.id()).unwrap();
        assert!(!Owner { pid: child.id(), started: started - 1 }.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
