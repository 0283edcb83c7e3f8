//! A home, a workspace and an empty environment for one test, and the program in them.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sortie_testkit::{ScriptedServer, Traffic};
use tempfile::TempDir;

use crate::transcript::normalised;

/// World of one test. Nothing of the machine's own configuration reaches it.
pub(crate) struct World {
    dir: TempDir,
}

/// Command line to be run.
pub(crate) struct Invocation {
    command: Command,
    stdin: Option<Vec<u8>>,
    root: PathBuf,
}

/// Running program.
pub(crate) struct Live {
    pub(crate) child: Child,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
    root: PathBuf,
}

/// Finished program.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit code as in a shell: 128 plus the number of a signal that killed it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    root: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = Self { dir };
        for directory in ["home", "workspace/.git", "workspace/src", "state"] {
            fs::create_dir_all(world.path(directory)).unwrap();
        }
        world.write("workspace/src/auth.rs", "pub fn login() -> Result<(), AuthError> {\n    Err(AuthError)\n}\n");
        world.write("workspace/src/main.rs", "mod auth;\n\nfn main() {}\n");
        world
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        // Paths in messages are canonical, so the test's must be as well.
        self.dir.path().canonicalize().unwrap().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes the user's configuration file.
    pub(crate) fn config(&self, text: &str) -> PathBuf {
        self.write("home/.config/sortie/config.toml", text)
    }

    pub(crate) fn sortie(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Invocation {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.args(args);
        self.invocation(command)
    }

    fn invocation(&self, mut command: Command) -> Invocation {
        command
            .env_clear()
            // Profile of an instrumented program; otherwise unset.
            .envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
            .env("HOME", self.path("home"))
            .env("SORTIE_HOME", self.path("state"))
            // No server can be there, whatever runs on this machine.
            .env("OLLAMA_HOST", "127.0.0.1:1")
            .env("LLAMA_ARG_PORT", "1")
            .current_dir(self.path("workspace"));
        Invocation { command, stdin: None, root: self.path("") }
    }

    /// Journal, opened as by another program.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path("state/journal.db")).unwrap()
    }

    /// All tasks, the oldest first, once the journal has this many: background work arrives a moment later.
    pub(crate) fn tasks(&self, count: usize) -> Vec<serde_json::Value> {
        let since = Instant::now();
        loop {
            let listed = self
                .sortie(["tasks", "list", "--all", "--all-projects", "--limit", "1000", "--json"])
                .run()
                .stdout_json();
            let mut tasks = listed.as_array().unwrap().clone();
            if tasks.len() >= count {
                tasks.reverse();
                return tasks;
            }
            assert!(since.elapsed() < Duration::from_secs(30), "{count} tasks are not to be seen: {listed}");
        }
    }

    /// True if nothing was stored.
    pub(crate) fn kept_nothing(&self) -> bool {
        fs::read_dir(self.path("state")).unwrap().next().is_none()
    }
}

impl Invocation {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn envs<'a>(self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        variables.into_iter().fold(self, |invocation, (name, value)| invocation.env(name, value))
    }

    /// Uses the scripted server as the main route.
    pub(crate) fn on(self, server: &ScriptedServer, wire: &str) -> Self {
        let url = server.base_url();
        self.envs([("LLM_BASE_URL", &*url), ("LLM_WIRE", wire), ("LLM_API_KEY", "key"), ("LLM_MODEL_ID", "test-model")])
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    pub(crate) fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Runs it with a limit on the size of files, `kibibytes`.
    pub(crate) fn on_a_disk_of(self, kibibytes: u32) -> Self {
        // Ignored, the signal becomes an ordinary write error, and stays ignored in the program.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", kibibytes * 2);
        self.under("/bin/sh", &["-c", &script, "sh"])
    }

    /// Resets ignored signals, which are inherited from `nohup` or a shell's `&`.
    pub(crate) fn hearing_signals(self) -> Self {
        self.under("env", &["--default-signal=HUP,INT"])
    }

    /// Runs it under another program, which gets these arguments and then the whole command line.
    pub(crate) fn under(mut self, program: &str, args: &[&str]) -> Self {
        let mut outer = Command::new(program);
        outer.args(args).arg(self.command.get_program()).args(self.command.get_args()).env_clear();
        outer.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        outer.current_dir(self.command.get_current_dir().unwrap());
        self.command = outer;
        self
    }

    pub(crate) fn start(mut self) -> Live {
        self.command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(text), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            // Written by a thread: a program that never reads its stdin must not block the test. It may also close it
            // early.
            std::thread::spawn(move || pipe.write_all(&text).ok());
        }
        let mut out = child.stdout.take().unwrap();
        let mut err = child.stderr.take().unwrap();
        let stdout = std::thread::spawn(move || drain(&mut out));
        let stderr = std::thread::spawn(move || drain(&mut err));
        Live { child, stdout, stderr, root: self.root }
    }

    pub(crate) fn run(self) -> Ended {
        self.start().wait()
    }

    /// Bare command, for tests that handle its pipes themselves.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }
}

fn drain(pipe: &mut impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).unwrap();
    bytes
}

impl Live {
    pub(crate) fn wait(mut self) -> Ended {
        use std::os::unix::process::ExitStatusExt as _;
        let status = self.child.wait().unwrap();
        let text = |thread: JoinHandle<Vec<u8>>| {
            let text = String::from_utf8(thread.join().unwrap()).unwrap();
            // Message of a busy machine.
            text.replace("note: waiting for the journal, which another program seems to have locked\n", "")
        };
        Ended {
            code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap()),
            stdout: text(self.stdout),
            stderr: text(self.stderr),
            root: self.root,
        }
    }
}

impl Ended {
    /// Whole output, with stable names for ids, times, ports and directories.
    pub(crate) fn transcript(&self) -> String {
        let section = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("--- {name}\n{}", normalised(text, &self.root)),
        };
        format!("exit {}\n{}{}", self.code, section("stdout", &self.stdout), section("stderr", &self.stderr))
    }

    pub(crate) fn stdout_json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// Waits until the server's counts are as wanted.
pub(crate) fn wait_for(server: &ScriptedServer, wanted: impl FnMut(&Traffic) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(server.traffic_reaches(wanted));
}
