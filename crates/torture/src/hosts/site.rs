//! One scenario's place: a home, a workspace, a scripted model, and a host that is set up as `sortie mcp install` says.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use sortie_workshop::process;
use tempfile::TempDir;

use super::app_server::AppServer;
use super::host::{Host, MODEL};
use super::record::Record;
use super::script::Script;
use super::stage::Stage;
use crate::crash::server::Server;

/// Content of the one file in the workspace.
pub(super) const NOTES: &str = "Nothing much has happened.";
/// Time limit of one session of a host.
const BUDGET: Duration = Duration::from_mins(1);
const PERIOD: Duration = Duration::from_millis(10);

pub(super) struct Site<'a> {
    folder: TempDir,
    stage: &'a Stage,
    host: Host,
    model: Server,
    more: Vec<(&'static str, String)>,
}

/// A session of a host that has ended by itself.
pub(super) struct Session {
    pub(super) output: String,
}

impl<'a> Site<'a> {
    /// `words` go to `sortie mcp`.
    pub(super) fn new(stage: &'a Stage, host: Host, script: Script, words: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("sortie-hosts-").tempdir_in("/var/tmp")?;
        for directory in ["workspace/.git", "home"] {
            fs::create_dir_all(folder.path().join(directory))?;
        }
        fs::write(folder.path().join("workspace/notes.txt"), NOTES)?;
        let model = Server::start(&stage.model, folder.path(), &script.end(), &["--bodies", "--guest", MODEL])?;
        let site = Self { folder, stage, host, model, more: Vec::new() };
        for (name, text) in host.files(&site.model.base_url) {
            let path = site.path("home").join(name);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, text)?;
        }
        site.install(words)?;
        Ok(site)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// One more variable for the host.
    pub(super) fn set(&mut self, name: &'static str, value: &str) {
        self.more.push((name, value.to_owned()));
    }

    /// Our program, as its user has it.
    pub(super) fn sortie(&self) -> Command {
        let mut command = Command::new(&self.stage.sortie);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default()).env("HOME", self.path("home"));
        command.current_dir(self.path("workspace"));
        command
    }

    fn install(&self, words: &[&str]) -> Result<()> {
        let mut command = self.sortie();
        command.args(["mcp", "install", self.host.name(), "--write", "--"]).args(words);
        let finished = process::within(command, BUDGET)?;
        if !finished.status.success() {
            bail!("`sortie mcp install` failed:\n{}", finished.output);
        }
        Ok(())
    }

    /// Changes the host's settings, as a person would with an editor.
    pub(super) fn edit(&self, from: &str, to: &str) -> Result<()> {
        let path = self.path("home").join(self.host.settings_file());
        let text = fs::read_to_string(&path)?;
        if !text.contains(from) {
            bail!("{} has no {from}:\n{text}", path.display());
        }
        fs::write(&path, text.replace(from, to)).context("the settings cannot be written")
    }

    /// Lets the host start the server in `/`.
    pub(super) fn start_in_root(&self) -> Result<()> {
        let wrapper = self.path("from-root");
        fs::write(&wrapper, format!("#!/bin/sh\ncd / && exec '{}' \"$@\"\n", self.stage.sortie.display()))?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
        self.edit(&self.stage.sortie.display().to_string(), &wrapper.display().to_string())
    }

    /// Runs a session from a prompt until the host quits.
    pub(super) fn session(&self, prompt: &str) -> Result<Session> {
        let output = self.path("output.log");
        let file = File::create(&output)?;
        let mut command = self.at_home(self.stage.command(self.host)?);
        // A file and not a pipe: what a host leaves behind must not hold us up.
        command.args(self.host.words(prompt)).stdout(file.try_clone()?).stderr(file).process_group(0);
        let mut child = Running(command.spawn().with_context(|| format!("cannot run {}", self.host.title()))?);
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.0.try_wait()? {
                break status;
            }
            if began.elapsed() > BUDGET {
                let said = fs::read_to_string(&output)?;
                bail!("{} did not end within {} s:\n{said}", self.host.title(), BUDGET.as_secs());
            }
            thread::sleep(PERIOD);
        };
        let output = fs::read_to_string(&output)?;
        if !status.success() {
            bail!("{} ended with {status}:\n{output}", self.host.title());
        }
        Ok(Session { output })
    }

    /// Runs a turn with a person who says yes to every question, and returns the questions.
    pub(super) fn session_with_person(&self, prompt: &str) -> Result<Vec<String>> {
        if self.host == Host::Codex {
            return AppServer::start(self.at_home(self.stage.command(self.host)?))?.turn(prompt, BUDGET);
        }
        self.answer_by_hook()?;
        self.session(prompt)?;
        Ok(fs::read_to_string(self.path("questions")).unwrap_or_default().lines().map(str::to_owned).collect())
    }

    /// Lets Claude Code, which asks nobody without a screen, ask a program instead.
    fn answer_by_hook(&self) -> Result<()> {
        let (script, questions) = (self.path("answer.mjs"), self.path("questions"));
        fs::write(&script, include_str!("answer.mjs"))?;
        let command = format!("'{}' '{}' '{}'", self.stage.node()?.display(), script.display(), questions.display());
        let hooks = json!({ "hooks": { "Elicitation": [{ "hooks": [{ "type": "command", "command": command }] }] } });
        let settings = self.path("home/.claude/settings.json");
        fs::create_dir_all(self.path("home/.claude"))?;
        fs::write(settings, hooks.to_string()).context("the hook cannot be set")
    }

    /// A host in this place.
    fn at_home(&self, mut command: Command) -> Command {
        command.envs(self.host.variables(&self.model.base_url));
        command.envs(self.more.iter().map(|(name, value)| (name, value))).env("HOME", self.path("home"));
        command.current_dir(self.path("workspace"));
        command
    }

    /// Opens a gate of the script.
    pub(super) fn open(&mut self, gate: &str) -> Result<()> {
        self.model.open(gate)
    }

    /// All that the models were asked so far.
    pub(super) fn record(&self) -> Result<Record> {
        Record::read(&self.path("requests.log"))
    }

    /// Tasks that the journal has, newest first.
    pub(super) fn tasks(&self) -> Result<Vec<Value>> {
        let mut command = self.sortie();
        command.args(["tasks", "list", "--json", "--all"]);
        let output = process::stdout_of(&mut command)?;
        serde_json::from_str(&output).with_context(|| format!("no list of tasks: {output}"))
    }
}

/// A host. Everything of its group ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // Usually nothing is left, and this fails for that reason.
            kill_process_group(group, Signal::KILL).ok();
        }
        self.0.wait().ok();
    }
}
