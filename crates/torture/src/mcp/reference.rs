//! Our agents with the protocol's reference servers: `server-everything` over its streams and over HTTP, and
//! `server-filesystem`. A scripted model calls their tools, and their answers must reach it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sortie_workshop::process;

use super::place::{Place, rule};
use super::{Findings, Stage};

const EVERYTHING: &str = "server-everything/dist/index.js";
const FILESYSTEM: &str = "server-filesystem/dist/index.js";
const BUDGET: Duration = Duration::from_mins(1);
const PROMPT: &str = "Ask the servers.";
/// Answers that each server is made to give.
const FROM_STREAMS: &str = "Echo: through a pipe";
const FROM_HTTP: &str = "Echo: through a socket";
const FROM_FILES: &str = "Only this server reads here.";

pub(super) fn findings(stage: &Stage) -> Result<Findings> {
    let place = Place::new(&stage.programs, &rules())?;
    let shared = place.path("shared");
    std::fs::create_dir_all(&shared)?;
    std::fs::write(shared.join("far.txt"), FROM_FILES)?;
    let remote = Remote::start(stage)?;
    let configuration = place.path("servers.toml");
    std::fs::write(&configuration, servers(stage, &place, &remote))?;

    let mut command = place.sortie();
    command.arg("run").arg(PROMPT).arg("--config").arg(&configuration).args(["--output-format", "json"]);
    for tool in ["mcp__everything__echo", "mcp__remote__echo", "mcp__files__read_text_file"] {
        command.args(["--allow", tool]);
    }
    let finished = process::within(command, BUDGET)?;
    let asked = place.requests()?;
    let mut findings = Findings::new();
    if !finished.status.success() {
        findings.push(format!("the run ended with {}:\n{}", finished.status, finished.output));
    }
    for answer in [FROM_STREAMS, FROM_HTTP, FROM_FILES] {
        if !asked.contains(answer) {
            findings.push(format!("the model was never told {answer:?}; the run said:\n{}", finished.output));
        }
    }
    Ok(findings)
}

/// One turn with a call to each server, then the report.
fn rules() -> Vec<Value> {
    let call = |tool: &str, arguments: Value| json!({ "call": { "tool": tool, "arguments": arguments } });
    let calls = json!([
        call("mcp__everything__echo", json!({ "message": "through a pipe" })),
        call("mcp__remote__echo", json!({ "message": "through a socket" })),
        call("mcp__files__read_text_file", json!({ "path": "far.txt" })),
    ]);
    vec![
        rule(PROMPT, 0, &json!({ "parts": calls })),
        rule(PROMPT, 1, &json!({ "parts": [{ "text": "All have answered." }] })),
    ]
}

/// The user's configuration.
fn servers(stage: &Stage, place: &Place, remote: &Remote) -> String {
    let text = |path: &Path| path.display().to_string();
    let (node, shared) = (text(stage.foreign.node()), text(&place.path("shared")));
    let [everything, filesystem] = [EVERYTHING, FILESYSTEM].map(|path| text(&stage.foreign.program(path)));
    format!(
        "[mcp_servers.everything]\ncommand = {node:?}\nargs = [{everything:?}, \"stdio\"]\n\
         [mcp_servers.files]\ncommand = {node:?}\nargs = [{filesystem:?}, {shared:?}]\n\
         [mcp_servers.remote]\nurl = \"http://127.0.0.1:{}/mcp\"\n",
        remote.port,
    )
}

/// `server-everything` over HTTP; it ends with this value.
struct Remote {
    child: Child,
    port: u16,
}

impl Remote {
    fn start(stage: &Stage) -> Result<Self> {
        let mut command = Command::new(stage.foreign.node());
        command.arg("--import").arg(stage.foreign.beside("port.mjs")).arg(stage.foreign.program(EVERYTHING));
        command.arg("streamableHttp").env("PORT", "0");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut remote = Self { child: child.context("cannot run server-everything")?, port: 0 };
        let stderr = remote.child.stderr.take().context("server-everything has no output")?;
        let mut said = String::new();
        for line in BufReader::new(stderr).lines() {
            let line = line?;
            if let Some(port) = line.strip_prefix("port ") {
                remote.port = port.parse().context("server-everything names no port")?;
                return Ok(remote);
            }
            said.push_str(&line);
        }
        bail!("server-everything does not listen: {said}")
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to do.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
