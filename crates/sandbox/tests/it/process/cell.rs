//! A workspace, and commands to run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sortie_sandbox::process::{
    Ended, Environment, How, OutputCaps, Program, Running, Shell, SpawnError, Tier, Walls, spawn,
};
use tempfile::TempDir;

pub(crate) const WALLED: [Tier; 2] = [Tier::Namespaces, Tier::Landlock];

/// More than any test prints.
pub(crate) const CAPS: OutputCaps<'_> = OutputCaps { unspilled: 1 << 20, spill: None };

/// Long enough for anything that ends by itself.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Cell {
    _directory: TempDir,
    /// Next to the workspace; not in `/tmp`, since commands have their own.
    pub(crate) outside: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) walls: Walls,
    pub(crate) environment: Environment,
    pub(crate) tier: Tier,
}

impl Cell {
    /// A workspace in which everything may be written.
    pub(crate) fn new(tier: Tier) -> Self {
        Self::within(Path::new("/var/tmp"), tier)
    }

    /// A workspace in a directory of the caller's.
    pub(crate) fn within(directory: &Path, tier: Tier) -> Self {
        let directory = tempfile::tempdir_in(directory).unwrap();
        let base = directory.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "as it was").unwrap();
        let walls = Walls::writing(root.clone());
        let environment = Environment::scrubbed([], &[]);
        Self { _directory: directory, outside, root, walls, environment, tier }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Creates a file in the workspace, with its directories.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn protect(&mut self, path: &str) {
        self.walls.protected.push(self.path(path));
    }

    pub(crate) fn spawn(&self, command: &str) -> Result<Running, SpawnError> {
        self.spawn_until(command, PATIENCE)
    }

    pub(crate) fn spawn_until(&self, command: &str, time: Duration) -> Result<Running, SpawnError> {
        let shell = Shell {
            command,
            directory: &self.root,
            environment: &self.environment,
            deadline: Some(Instant::now() + time),
        };
        start(self.tier, &self.walls, &shell)
    }

    pub(crate) fn end(&self, command: &str) -> (Ended, String) {
        let mut output = Vec::new();
        let ended = self.spawn(command).unwrap().finish(CAPS, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
        (ended, String::from_utf8_lossy(&output).into_owned())
    }

    /// The output of a command, which must succeed.
    pub(crate) fn run(&self, command: &str) -> String {
        let (ended, output) = self.end(command);
        assert_eq!(ended.how, How::Exited { code: 0 }, "{:?}: {command}\n{output}", self.tier);
        output
    }

    /// The output of a command, which must fail.
    pub(crate) fn fail(&self, command: &str) -> String {
        let (ended, output) = self.end(command);
        assert!(matches!(ended.how, How::Exited { code: 1.. }), "{:?}: {:?} {command}\n{output}", self.tier, ended.how);
        output
    }

    /// The error number of a system call made by a command, or 0.
    pub(crate) fn call(&self, number: i64, arguments: &str) -> i32 {
        let arguments = if arguments.is_empty() { String::new() } else { format!(", {arguments}") };
        let perl = format!("perl -e 'my $r = syscall({number}{arguments}); print $r == -1 ? $! + 0 : 0'");
        self.run(&perl).parse().unwrap()
    }
}

pub(crate) fn start(tier: Tier, walls: &Walls, shell: &Shell<'_>) -> Result<Running, SpawnError> {
    spawn(program(), tier, walls, shell)
}

pub(crate) fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| Program::this().unwrap())
}

/// A number of seconds to sleep that no other process of the machine uses.
pub(crate) fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("8{:07}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// True if a process has the marker in its command line, other than a command of the cell itself.
pub(crate) fn is_alive(marker: &str) -> bool {
    fs::read_dir("/proc").unwrap().any(|process| {
        let command = fs::read(process.unwrap().path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).split('\0').any(|word| word == marker)
    })
}

/// The pid of the process that sleeps the marker, and those of its ancestors, up to the first process.
pub(crate) fn ancestry(marker: &str) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let sleeps = |number: &u32| {
        let command = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        command == format!("sleep\0{marker}\0").as_bytes()
    };
    let mut ancestry: Vec<u32> = numbers.filter(sleeps).take(1).collect();
    while let Some(parent) = ancestry.last().and_then(|number| parent(*number)) {
        ancestry.push(parent);
    }
    ancestry
}

pub(crate) fn parent(number: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    (parent != 0).then_some(parent)
}

/// Waits until something holds, and fails after two seconds, the promised limit.
pub(crate) fn within_two_seconds(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(2), "{what}");
        std::thread::yield_now();
    }
}

pub(crate) fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
