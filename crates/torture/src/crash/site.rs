//! The site of a trial: a folder with a workspace, a home, a journal and a server of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

use super::programs::Programs;
use super::server::Server;
use super::tally::Count;

pub(crate) struct Site {
    folder: TempDir,
    server: Server,
    /// A unique name of the program, by which its processes are known.
    program: PathBuf,
    checker: PathBuf,
}

/// Verdict of the checker.
#[derive(Debug, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) breaches: Vec<String>,
    pub(crate) count: Count,
    pub(super) root: Root,
}

/// Progress of the task without a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Root {
    Absent,
    Open,
    Ended,
    Unknown,
}

impl Site {
    /// Makes a site whose server follows `rules` and is started with these flags.
    pub(crate) fn new(programs: &Programs, rules: &Value, server_flags: &[&str]) -> Result<Self> {
        // Commands have a `/tmp` of their own, and could not see what lies in the machine's.
        let folder = tempfile::Builder::new().prefix("sortie-crash-").tempdir_in("/var/tmp")?;
        let root = folder.path();
        for directory in ["workspace/.git", "home", "shown"] {
            fs::create_dir_all(root.join(directory))?;
        }
        let program = root.join("sortie");
        if fs::hard_link(&programs.sortie, &program).is_err() {
            fs::copy(&programs.sortie, &program)?;
        }
        let server = Server::start(&programs.server, root, rules, server_flags)?;
        Ok(Self { server, program, checker: programs.checker.clone(), folder })
    }

    /// A place below the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Keeps the folder for a look into a failure.
    pub(crate) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// The command that starts the program here.
    pub(crate) fn program(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.path("workspace"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("SORTIE_HOME", self.path("state"))
            .env("LLM_BASE_URL", &self.server.base_url)
            .env("LLM_WIRE", "openai-chat")
            .env("LLM_MODEL_ID", "scripted")
            .env("LLM_API_KEY", "none")
            .stdin(Stdio::null());
        command
    }

    /// Runs the checker over everything.
    pub(crate) fn check(&self, ended: bool) -> Result<Verdict> {
        let mut command = Command::new(&self.checker);
        command.arg(self.folder.path()).args(ended.then_some("--ended")).current_dir("/");
        let output = command.stderr(Stdio::inherit()).output().context("cannot run crash-checker")?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("the checker gave no verdict ({})", output.status))
    }
}
