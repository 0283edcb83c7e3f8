//! MCP Inspector's command line as a client of `sortie mcp`: each call is one process. Calls go over streams and over
//! HTTP, in the handshake of the older revisions and in the newest. It has no command to cancel.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use sortie_workshop::process;

use super::place::{REPORT, WORK};
use super::served::Served;
use super::suite::Who;
use super::{Findings, Stage};

const PROGRAM: &str = "inspector/clients/cli/build/index.js";
const BUDGET: Duration = Duration::from_mins(1);

/// Transport to the server.
#[derive(Debug, Clone, Copy)]
enum Way {
    Streams,
    Http,
}

/// A call, and the text that its result must hold.
struct Call {
    method: &'static str,
    words: &'static [&'static str],
    expected: &'static [&'static str],
}

const CALLS: [Call; 5] = [
    Call {
        method: "tools/list",
        words: &[],
        expected: &["\"Task\"", "\"SubagentList\"", "outputSchema", "readOnlyHint"],
    },
    Call {
        method: "tools/call",
        words: &["--tool-name", "Task", "--tool-arg", "description=Read", "subagent_type=explore"],
        expected: &[REPORT, "\"status\":\"completed\""],
    },
    Call { method: "resources/list", words: &[], expected: &["sortie://agents"] },
    Call { method: "resources/read", words: &["--uri", "sortie://agents"], expected: &["general-purpose"] },
    Call { method: "prompts/list", words: &[], expected: &["prompts"] },
];

pub(super) fn findings(stage: &Stage) -> Result<Findings> {
    let server = Served::start(stage, Who::Sortie)?;
    let all_calls = |way, era| {
        let missing = CALLS.iter().map(|call| {
            let missing = call.missing(stage, &server, way, era)?;
            Ok(missing.map(|missing| format!("{way:?}, {era}, {}: {missing}", call.method)))
        });
        missing.filter_map(Result::transpose).collect::<Result<Findings>>()
    };
    // At the same time: most of it is Node starting, and waiting.
    let mut findings = std::thread::scope(|scope| {
        let ways = [(Way::Streams, "legacy"), (Way::Streams, "modern"), (Way::Http, "legacy"), (Way::Http, "modern")];
        let ways = ways.map(|(way, era)| scope.spawn(move || all_calls(way, era)));
        let findings = ways.into_iter().map(|way| way.join().ok().context("a client panicked").flatten());
        findings.collect::<Result<Vec<Findings>>>()
    })?
    .concat();
    findings.extend(server.end()?);
    Ok(findings)
}

impl Call {
    /// Checks the answer: the fault, if there is one.
    fn missing(&self, stage: &Stage, server: &Served, way: Way, era: &str) -> Result<Option<String>> {
        let mut command = stage.foreign.command(PROGRAM);
        command.env("HOME", server.path("home")).args(["--format", "json", "--quiet", "--protocol-era", era]);
        command.args(["--method", self.method]).args(self.words);
        if self.method == "tools/call" {
            command.arg(format!("prompt={WORK}"));
        }
        reach(&mut command, server, way)?;
        let finished = process::within(command, BUDGET)?;
        let answer: Option<Value> = serde_json::from_str(&finished.output).ok();
        let result = answer.map(|mut answer| answer["result"].take().to_string()).unwrap_or_default();
        let absent: Vec<&&str> = self.expected.iter().filter(|expected| !result.contains(**expected)).collect();
        let good = finished.status.success() && absent.is_empty();
        Ok((!good).then(|| format!("{} without {absent:?}:\n{}", finished.status, finished.output)))
    }
}

fn reach(command: &mut Command, server: &Served, way: Way) -> Result<()> {
    match way {
        Way::Http => {
            command.args(["--transport", "http", "--server-url", server.url()]);
            command.args(["--header", &format!("Authorization: Bearer {}", server.token()?)]);
        }
        Way::Streams => {
            for (name, value) in server.place().environment() {
                command.args(["-e", &format!("{name}={value}")]);
            }
            command.arg("--cwd").arg(server.path("workspace")).arg("--").arg(server.place().program()).arg("mcp");
        }
    }
    Ok(())
}
