//! Directory for trials of walls: a workspace, and an outside file that must stay unchanged.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sortie_sandbox::process::{Environment, How, OutputCaps, Program, Running, Shell, SpawnError, Tier, Walls, spawn};

/// Ample time for any trial.
const PATIENCE: Duration = Duration::from_secs(10);

/// Places to try, `/tmp` last: commands have their own.
const PLACES: [&str; 3] = ["/var/tmp", "/dev/shm", "/tmp"];

/// Workspace and outside file, removed on drop.
pub(super) struct TrialDirectory<'a> {
    program: &'a Program,
    directory: PathBuf,
    pub(super) root: PathBuf,
    /// File outside the workspace.
    pub(super) outside: PathBuf,
    /// Name that is unique on this machine.
    pub(super) name: String,
}

impl<'a> TrialDirectory<'a> {
    pub(super) fn new(program: &'a Program) -> Result<Self, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = format!("sortie-doctor-{}-{now}", std::process::id());
        let make = |place: &&str| {
            let directory = Path::new(place).join(&name);
            DirBuilder::new().mode(0o700).create(&directory).ok()?;
            Some(directory)
        };
        let directory = PLACES.iter().find_map(make);
        let directory = directory.ok_or_else(|| format!("no directory can be made in {}", PLACES.join(", ")))?;
        let (root, outside) = (directory.join("workspace"), directory.join("outside"));
        let yard = Self { program, directory, root, outside, name };
        let made = fs::create_dir(&yard.root).and_then(|()| fs::write(&yard.outside, AS_IT_WAS));
        made.map(|()| yard).map_err(|error| format!("its directory cannot be used: {error}"))
    }

    /// Walls around the workspace, in which everything may be written.
    pub(super) fn walls(&self) -> Walls {
        Walls::writing(self.root.clone())
    }

    pub(super) fn start(&self, tier: Tier, walls: &Walls, command: &str) -> Result<Running, SpawnError> {
        let mut environment = Environment::scrubbed([], &[]);
        // Some programs' messages are parsed.
        environment.set("LC_ALL", "C");
        self.start_with(tier, walls, &environment, command)
    }

    pub(super) fn start_with(
        &self,
        tier: Tier,
        walls: &Walls,
        environment: &Environment,
        command: &str,
    ) -> Result<Running, SpawnError> {
        let deadline = Some(Instant::now() + PATIENCE);
        spawn(self.program, tier, walls, &Shell { command, directory: &self.root, environment, deadline })
    }

    /// Output of a command that ran to its end, whatever its exit code; or why it did not.
    pub(super) fn run(&self, tier: Tier, walls: &Walls, command: &str) -> Result<String, String> {
        finish(self.start(tier, walls, command))
    }
}

/// Content of a file that must stay unchanged.
pub(super) const AS_IT_WAS: &str = "as it was";

/// Output of a command until it and everything that it started has ended.
pub(super) fn finish(started: Result<Running, SpawnError>) -> Result<String, String> {
    let running = started.map_err(|error| in_full(&error))?;
    let mut output = Vec::new();
    let caps = OutputCaps { unspilled: u64::MAX, spill: None };
    let ended =
        running.finish(caps, &mut |bytes| output.extend_from_slice(bytes)).map_err(|error| error.to_string())?;
    match ended.how {
        How::Exited { .. } => Ok(String::from_utf8_lossy(&output).into_owned()),
        How::TimedOut => Err(format!("a command did not end within {} seconds", PATIENCE.as_secs())),
        How::Signalled { signal } => Err(format!("a command was ended by signal {signal}")),
        How::Cancelled | How::Lost => Err("the keeper of a command was ended".to_owned()),
    }
}

fn in_full(error: &dyn std::error::Error) -> String {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}")
}

impl Drop for TrialDirectory<'_> {
    fn drop(&mut self) {
        // A remnant that cannot be removed is useless to anybody, and is left.
        fs::remove_dir_all(&self.directory).ok();
    }
}
