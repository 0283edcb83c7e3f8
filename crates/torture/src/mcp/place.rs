//! The place of `sortie mcp` in a trial: our programs as built, and a folder with a workspace, a home and a scripted
//! model.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sortie_workshop::{Workspace, cargo, process};
use tempfile::TempDir;

use crate::crash::server::Server;

/// Prompt of the model, and its final reply.
pub(super) const WORK: &str = "Read the notes.";
pub(super) const REPORT: &str = "The notes say little.";
/// Prompt of a task that never ends.
const ENDLESS: &str = "Wait for nothing.";

pub(super) struct Programs {
    pub(super) sortie: PathBuf,
    pub(super) fixture: PathBuf,
    /// Sortie's client, for the suite.
    pub(super) client: PathBuf,
    model: PathBuf,
    /// Folder of the programs; it is removed with this value.
    _folder: TempDir,
}

impl Programs {
    /// `None` when they do not compile.
    pub(super) fn build(workspace: &Workspace) -> Result<Option<Self>> {
        let mut command = cargo();
        command.args(["build", "--quiet", "--package", "sortie", "--bin", "sortie", "--package", "sortie-testkit"]);
        command.args(["--bin", "scripted-server", "--package", "sortie-mcp", "--example", "conformance"]);
        command.args(["--example", "conformance_client"]);
        if !process::succeeds(&mut command)? {
            return Ok(None);
        }
        // Another build may replace them while they are used.
        let folder = tempfile::Builder::new().prefix("programs-").tempdir_in(&workspace.target)?;
        let kept = |path: &str| {
            let (built, kept) = (workspace.target.join("debug").join(path), folder.path().join(path.replace('/', "-")));
            std::fs::hard_link(&built, &kept).with_context(|| format!("cannot link {}", built.display()))?;
            anyhow::Ok(kept)
        };
        let (sortie, model) = (kept("sortie")?, kept("scripted-server")?);
        let (fixture, client) = (kept("examples/conformance")?, kept("examples/conformance_client")?);
        Ok(Some(Self { sortie, fixture, client, model, _folder: folder }))
    }
}

pub(super) struct Place {
    folder: TempDir,
    program: PathBuf,
    model: Server,
}

impl Place {
    /// Makes a place whose model follows these rules and the shared ones.
    pub(super) fn new(programs: &Programs, rules: &[Value]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("sortie-mcp-").tempdir_in("/var/tmp")?;
        for directory in ["workspace/.git", "home", "state"] {
            std::fs::create_dir_all(folder.path().join(directory))?;
        }
        std::fs::write(folder.path().join("workspace/notes.txt"), "Nothing much.\n")?;
        let rules = [shared_rules(), rules.to_vec()].concat();
        let rules = json!({ "rules": rules });
        let model = Server::start(&programs.model, folder.path(), &rules, &["--bodies"])?;
        Ok(Self { folder, program: programs.sortie.clone(), model })
    }

    /// Something below the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The whole environment of the program.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |name| self.path(name).display().to_string();
        vec![
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", path("home")),
            ("SORTIE_HOME", path("state")),
            ("LLM_BASE_URL", self.model.base_url.clone()),
            ("LLM_WIRE", "openai-chat".to_owned()),
            ("LLM_MODEL_ID", "scripted".to_owned()),
            ("LLM_API_KEY", "none".to_owned()),
        ]
    }

    /// The program, to be called with more words.
    pub(super) fn sortie(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment()).current_dir(self.path("workspace")).stdin(Stdio::null());
        command
    }

    /// All that the model was asked.
    pub(super) fn requests(&self) -> Result<String> {
        std::fs::read_to_string(self.path("requests.log")).context("the model has written nothing")
    }
}

/// Rules of an agent that reads a file and reports, and of one that never ends.
fn shared_rules() -> Vec<Value> {
    let read = json!({ "call": { "tool": "Read", "arguments": { "file_path": "notes.txt" } } });
    vec![
        rule(WORK, 0, &json!({ "parts": [read] })),
        rule(WORK, 1, &json!({ "parts": [{ "text": REPORT }] })),
        rule(ENDLESS, 0, &json!({ "parts": [read] })),
        rule(ENDLESS, 1, &json!({ "fault": "silence" })),
    ]
}

pub(super) fn rule(prompt: &str, turn: usize, reply: &Value) -> Value {
    json!({ "when": { "prompt_contains": prompt, "turn": turn }, "reply": reply })
}
