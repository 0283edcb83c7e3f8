//! One process of the program: waited for, or killed.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, kill_process};

use super::death::Death;

/// Far more than any run takes; one that hangs is a finding.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Time between two looks at a process that may end before it is killed.
const PERIOD: Duration = Duration::from_millis(1);

/// Ending of a process of the program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
    /// Its output, if that went to a known file.
    pub(super) stdout: String,
}

/// A process of the program.
pub(crate) struct Live {
    child: Child,
    stderr: PathBuf,
    stdout: Option<PathBuf>,
    began: Instant,
}

impl Ended {
    /// An ending without complaints.
    #[cfg(test)]
    pub(super) fn new(status: ExitStatus, stdout: &str) -> Self {
        Self { status, stderr: String::new(), stdout: stdout.to_owned() }
    }

    /// True if it said this to people on stderr, or to programs in an outcome on stdout.
    pub(crate) fn said(&self, words: &str) -> bool {
        self.stderr.contains(words) || self.stdout.contains(words)
    }
}

impl Live {
    /// Starts a process whose complaints go to a file.
    pub(crate) fn start(command: &mut Command, stderr: PathBuf) -> Result<Self> {
        let child = command.stderr(File::create(&stderr)?).spawn().context("cannot run sortie")?;
        Ok(Self { child, stderr, stdout: None, began: Instant::now() })
    }

    /// Names the file that its output goes to.
    pub(crate) fn printing_to(self, stdout: PathBuf) -> Self {
        Self { stdout: Some(stdout), ..self }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it after this time, unless it ends before. A process with unlimited time must end by itself.
    pub(crate) fn kill_after(self, time: Duration) -> Result<Ended> {
        self.end_after(time, Death::Kill)
    }

    /// Has it die after this time, unless it ends before. A process with unlimited time must end by itself.
    pub(super) fn end_after(mut self, mut time: Duration, death: Death) -> Result<Ended> {
        if let Some(status) = self.lives(time)? {
            return self.ended(status);
        }
        if let Death::Signal { signal, patience } = death {
            kill_process(Pid::from_child(&self.child), signal)?;
            time = self.began.elapsed() + patience;
            if let Some(status) = self.lives(time)? {
                return self.ended(status);
            }
        }
        self.child.kill()?;
        let status = self.child.wait()?;
        let ended = self.ended(status)?;
        if time >= PATIENCE {
            bail!("N11 it does not come to an end:\n{}", ended.stderr);
        }
        Ok(ended)
    }

    /// Waits until it is this old. Returns its status if it has ended before.
    fn lives(&mut self, time: Duration) -> Result<Option<ExitStatus>> {
        while self.began.elapsed() < time {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            thread::sleep(PERIOD.min(time.saturating_sub(self.began.elapsed())));
        }
        Ok(None)
    }

    fn ended(self, status: ExitStatus) -> Result<Ended> {
        let stdout = self.stdout.map(fs::read).transpose()?.unwrap_or_default();
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        Ok(Ended { status, stderr: fs::read_to_string(self.stderr)?, stdout })
    }
}

impl Ended {
    pub(crate) fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }
}
