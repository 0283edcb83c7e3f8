//! The programs of a trial: ours as built, and the hosts as npm has them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use sortie_workshop::{Workspace, cargo, process};
use tempfile::TempDir;

use super::host::Host;
use crate::npm::{self, Packages};

const PACKAGES: Packages =
    Packages { folder: "crates/torture/npm", files: &["package.json", "package-lock.json"], installed: "sortie-hosts" };

pub(super) struct Stage {
    pub(super) sortie: PathBuf,
    pub(super) model: PathBuf,
    /// The folder of the hosts, or the reason why there is none.
    hosts: Result<PathBuf>,
    /// Folder of our programs; it is removed with this value.
    _folder: TempDir,
}

impl Stage {
    /// `None` if our programs do not compile.
    pub(super) fn prepare(workspace: &Workspace) -> Result<Option<Self>> {
        let mut command = cargo();
        command.args(["build", "--quiet", "--package", "sortie", "--bin", "sortie", "--package", "sortie-testkit"]);
        command.args(["--bin", "scripted-server"]);
        if !process::succeeds(&mut command)? {
            return Ok(None);
        }
        // Another build may replace them while they are used.
        let folder = tempfile::Builder::new().prefix("programs-").tempdir_in(&workspace.target)?;
        let kept = |name: &str| {
            let (built, kept) = (workspace.target.join("debug").join(name), folder.path().join(name));
            std::fs::hard_link(&built, &kept).with_context(|| format!("cannot link {}", built.display()))?;
            anyhow::Ok(kept)
        };
        let (sortie, model) = (kept("sortie")?, kept("scripted-server")?);
        Ok(Some(Self { sortie, model, hosts: PACKAGES.install(workspace), _folder: folder }))
    }

    /// A host, to be called with more words and in a place of its own.
    pub(super) fn command(&self, host: Host) -> Result<Command> {
        let folder = self.hosts()?;
        let packages = folder.join("node_modules");
        let program = host.programs().iter().map(|path| packages.join(path)).find(|program| program.exists());
        let program = program.with_context(|| format!("npm has no {} for this machine", host.title()))?;
        let mut command = if program.extension().is_some_and(|extension| extension == "js") {
            let mut node = Command::new(self.node()?);
            node.arg(program);
            node
        } else {
            Command::new(program)
        };
        command.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default()).stdin(Stdio::null());
        Ok(command)
    }

    /// Names of the tools that `sortie mcp` offers.
    pub(super) fn tools(&self) -> Result<Vec<String>> {
        let place = tempfile::tempdir_in("/var/tmp")?;
        let mut command = Command::new(&self.sortie);
        command.arg("mcp").env_clear().env("HOME", place.path().join("home")).current_dir(place.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let client = json!({ "name": "trial", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let messages = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        ];
        let mut input = child.stdin.take().context("the server has no input")?;
        messages.iter().try_for_each(|message| writeln!(input, "{message}"))?;
        let output = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut answers = output.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
        let list = answers.find(|answer: &Value| answer["id"] == 2).context("the server lists no tools");
        drop(input);
        child.wait()?;
        let list = list?;
        let tools = list["result"]["tools"].as_array().context("there are no tools")?;
        Ok(tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect())
    }

    /// The version that a host states.
    pub(super) fn version(&self, host: Host) -> Result<String> {
        let home = tempfile::tempdir_in("/var/tmp")?;
        let mut command = self.command(host)?;
        let output = command.arg("--version").env("HOME", home.path()).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = said.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        match version {
            Some(version) if output.status.success() => Ok(version.to_owned()),
            _ => bail!("it does not state its version: {said}{}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    pub(super) fn node(&self) -> Result<PathBuf> {
        npm::node(self.hosts()?)
    }

    fn hosts(&self) -> Result<&Path> {
        self.hosts.as_deref().map_err(|error| anyhow!("{error:#}"))
    }
}
