//! One run's world: a workspace, a home, a server, and the program started, killed and looked at in it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use super::programs::Programs;
use super::script::Script;
use super::server::Server;
use super::tally::Count;

/// Far more than any run takes; one that hangs is a finding.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often a process is looked at that may end before it is killed.
const PERIOD: Duration = Duration::from_millis(1);

/// Files that nobody is asked to touch: their path in the workspace, their content and their mode.
const KEPT: &[(&str, &[u8], u32)] = &[
    ("kept/unsaved.txt", b"work that is in no commit yet\n", 0o600),
    ("kept/tool.sh", b"#!/bin/sh\nexit 0\n", 0o755),
    ("kept/not-text.bin", b"\xff\xfe\0\r\n\x80", 0o444),
    ("kept/empty", b"", 0o664),
];
/// Of the files that are worked on, so that it is seen whether they keep it.
const WORKED_ON: u32 = 0o640;

/// What the main agent is asked.
pub(super) const PROMPT: &str = "Have all of it done.";

pub(super) struct World<'a> {
    programs: &'a Programs,
    folder: TempDir,
    server: Server,
    /// A name of the program that nobody else uses, so that its processes are told from all others.
    program: PathBuf,
    flags: &'static [&'static str],
    n_started: u32,
}

/// How a process of the program ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stderr: String,
    took_too_long: bool,
}

/// What the checker says.
#[derive(Debug, Deserialize)]
pub(super) struct Verdict {
    pub(super) breaches: Vec<String>,
    pub(super) count: Count,
    pub(super) root: Root,
}

/// How far the task without a parent has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Root {
    Absent,
    Open,
    Ended,
    Unknown,
}

/// What to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Run,
    Resume,
}

impl<'a> World<'a> {
    pub(super) fn new(programs: &'a Programs, script: &Script) -> Result<Self> {
        // Commands have a `/tmp` of their own, and could not see what lies in the machine's.
        let folder = tempfile::Builder::new().prefix("sortie-crash-").tempdir_in("/var/tmp")?;
        let root = folder.path();
        for directory in ["workspace/.git", "home", "shown"] {
            fs::create_dir_all(root.join(directory))?;
        }
        let worked_on = script.files.iter().map(|(path, text)| (path.as_str(), text.as_bytes(), WORKED_ON));
        for (path, bytes, mode) in worked_on.chain(KEPT.iter().copied()) {
            // Once for the run, and once for the checker, to see what became of it.
            for folder in ["workspace", "before"] {
                put(&root.join(folder).join(path), bytes, mode)?;
            }
        }
        let program = root.join("sortie");
        if fs::hard_link(&programs.sortie, &program).is_err() {
            fs::copy(&programs.sortie, &program)?;
        }
        let server = Server::start(&programs.server, root, &script.rules())?;
        Ok(Self { programs, server, program, folder, flags: script.flags, n_started: 0 })
    }

    /// Keeps what is there for whoever looks into a failure.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Starts the program; `crash` names the point and the passing at which it kills itself.
    pub(super) fn start(&mut self, start: Start, crash: Option<&str>) -> Result<Live> {
        self.n_started += 1;
        let root = self.folder.path();
        let stderr = root.join(format!("stderr-{}", self.n_started));
        let mut command = Command::new(&self.program);
        match start {
            Start::Run => command.args(["run", PROMPT]).args(self.flags),
            Start::Resume => command.arg("resume"),
        };
        command
            .args(["--output-format", "stream-json", "--allow", "Bash", "--permission-mode", "accept-edits"])
            .args(["--set", "task_tool.max_concurrent=64"])
            .current_dir(root.join("workspace"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", root.join("home"))
            .env("SORTIE_HOME", root.join("state"))
            .env("LLM_BASE_URL", &self.server.base_url)
            .env("LLM_WIRE", "openai-chat")
            .env("LLM_MODEL_ID", "scripted")
            .env("LLM_API_KEY", "none")
            .envs(crash.map(|crash| ("CRASH_OF_SORTIE", crash)))
            .stdin(Stdio::null())
            .stdout(File::create(root.join("shown").join(format!("{}.jsonl", self.n_started)))?)
            .stderr(File::create(&stderr)?);
        let child = command.spawn().context("cannot run sortie")?;
        Ok(Live { child, stderr, began: Instant::now() })
    }

    /// Has the checker look at everything.
    pub(super) fn check(&self, ended: bool) -> Result<Verdict> {
        let mut command = Command::new(&self.programs.checker);
        command.arg(self.folder.path()).args(ended.then_some("--ended")).current_dir("/");
        let output = command.stderr(Stdio::inherit()).output().context("cannot run crash-checker")?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("the checker gave no verdict ({})", output.status))
    }
}

fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file lies in a directory")?)?;
    fs::write(path, bytes)?;
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}

/// A process of the program.
pub(super) struct Live {
    child: Child,
    stderr: PathBuf,
    began: Instant,
}

impl Live {
    /// Kills it after this time, unless it ends before.
    pub(super) fn kill_after(mut self, time: Duration) -> Result<Ended> {
        while self.began.elapsed() < time {
            if let Some(status) = self.child.try_wait()? {
                return self.ended(status);
            }
            thread::sleep(PERIOD.min(time.saturating_sub(self.began.elapsed())));
        }
        self.child.kill()?;
        let status = self.child.wait()?;
        self.ended(status)
    }

    /// Waits for its end.
    pub(super) fn finish(self) -> Result<Ended> {
        let ended = self.kill_after(PATIENCE)?;
        if ended.took_too_long {
            bail!("N11 it does not come to an end:\n{}", ended.stderr);
        }
        Ok(ended)
    }

    fn ended(self, status: ExitStatus) -> Result<Ended> {
        let took_too_long = self.began.elapsed() >= PATIENCE;
        Ok(Ended { status, stderr: fs::read_to_string(self.stderr)?, took_too_long })
    }
}

impl Ended {
    pub(super) fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }
}
