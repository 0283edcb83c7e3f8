//! The house of a soak: one workspace, one journal and one server for all processes of the program.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::crash::live::Live;
use crate::crash::programs::Programs;
use crate::crash::site::{Site, Verdict};

/// Flags for everything that runs agents.
const FLAGS: &[&str] = &[
    "--allow",
    "Bash",
    "--permission-mode",
    "accept-edits",
    "--set",
    "task_tool.max_depth=3",
    // The host has more sub-agents in an hour than anybody should have.
    "--set",
    "task_tool.max_children=1000000",
    "--show",
    "line",
];

/// The main agent that comes with Sortie has a hundred turns.
const HOST: &str = "---\nname: host\ndescription: Keeps the house\nmaxTurns: 10000\n---\nYou keep the house.\n";

pub(super) struct House {
    site: Site,
    n_started: AtomicU64,
}

/// A task as `sortie tasks list` tells of it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Listed {
    pub(super) task_id: String,
    pub(super) status: String,
    pub(super) depth: u32,
}

impl House {
    pub(super) fn new(programs: &Programs, rules: &Value) -> Result<Self> {
        // An hour of whole requests would be gigabytes.
        let site = Site::new(programs, rules, &[])?;
        fs::create_dir(site.path("stderr"))?;
        let agents = site.path("home/.config/sortie/agents");
        fs::create_dir_all(&agents)?;
        fs::write(agents.join("host.md"), HOST)?;
        fs::create_dir(site.path("workspace/notes"))?;
        fs::write(site.path("workspace/notes/common.txt"), "a line that is common to all\n".repeat(20))?;
        Ok(Self { site, n_started: AtomicU64::new(0) })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.site.path(name)
    }

    /// Keeps the folder for a look into a failure.
    pub(super) fn keep(self) -> PathBuf {
        self.site.keep()
    }

    /// Has the checker look at everything, now that all is over.
    pub(super) fn check(&self) -> Result<Verdict> {
        self.site.check(true)
    }

    /// Starts a process that runs agents.
    pub(super) fn start(&self, words: &[&str]) -> Result<Live> {
        let number = self.n_started.fetch_add(1, Ordering::Relaxed);
        let mut command = self.site.program();
        command.args(words).args(FLAGS).stdout(Stdio::null());
        Live::start(&mut command, self.site.path(&format!("stderr/{number}")))
    }

    /// Runs a command that ends at once and uses the journal alone.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Output> {
        let output = self.site.program().args(words).output().context("cannot run sortie")?;
        // The exit code is 1 if a task is not, or no longer, in the state that the command needs.
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("`sortie {}`: {}\n{}", words.join(" "), output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(output)
    }

    /// All tasks that run, the newest first.
    pub(super) fn running(&self) -> Result<Vec<Listed>> {
        let output = self.ask(&["tasks", "list", "--all", "--all-projects", "--limit", "1000", "--json"])?;
        let mut tasks: Vec<Listed> = serde_json::from_slice(&output.stdout).context("a list that is not JSON")?;
        tasks.retain(|task| task.status == "running");
        Ok(tasks)
    }
}
