//! Running the program under measurement, as a user would, in a world of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

/// Resources that one run took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    /// Start time since 1970, as the server measures it.
    pub(super) began: Duration,
    pub(super) elapsed: Duration,
    /// Processor time in user and system mode together.
    pub(super) cpu: Duration,
    /// The most memory that was resident at once, in bytes. Never below that of the benchmark itself, because the
    /// kernel counts the process before it became another program.
    pub(super) peak_rss: u64,
}

/// The program, in a world with a server.
#[derive(Debug)]
pub(super) struct Sortie<'a> {
    pub(super) program: &'a Path,
    /// Holds the journal.
    pub(super) home: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) base_url: &'a str,
}

impl Sortie<'_> {
    /// Runs one prompt to its end, which must be a good one.
    pub(super) fn run(&self, prompt: &str) -> Result<Ran> {
        self.measured(&["run", prompt])
    }

    /// Runs one sub-agent to its end, which must be a good one.
    pub(super) fn task(&self, prompt: &str) -> Result<Ran> {
        self.measured(&["task", "--description", "Think", "--prompt", prompt])
    }

    /// Resumes the interrupted task to its end, which must be a good one.
    pub(super) fn resume(&self) -> Result<Ran> {
        self.measured(&["resume"])
    }

    fn measured(&self, words: &[&str]) -> Result<Ran> {
        std::fs::create_dir_all(&self.home)?;
        measured(self.command(words), &self.home.join("stderr"))
    }

    /// A command line that is about to be run.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(words)
            .arg("--cwd")
            .arg(&self.workspace)
            .env_clear()
            .env("HOME", &self.home)
            .env("SORTIE_HOME", &self.home)
            .env("LLM_BASE_URL", self.base_url)
            .env("LLM_WIRE", "openai-chat")
            .env("LLM_MODEL_ID", "scripted")
            .env("LLM_API_KEY", "none");
        command
    }
}

/// Runs a program to its end and asks the kernel for its use of resources. Its standard error goes to a file, in case
/// it fails.
pub(super) fn measured(mut command: Command, stderr: &Path) -> Result<Ran> {
    let name = command.get_program().display().to_string();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(stderr)?);
    let began = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let clock = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    let used = child.wait4()?;
    let elapsed = clock.elapsed();
    if !used.status.success() {
        let said = std::fs::read_to_string(stderr).unwrap_or_default();
        bail!("{name} failed ({}):\n{said}", used.status);
    }
    Ok(Ran { began, elapsed, cpu: used.rusage.utime + used.rusage.stime, peak_rss: used.rusage.maxrss })
}
