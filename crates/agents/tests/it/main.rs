//! Tests of agent files, the registry and resolution through the public API.

#![expect(clippy::expect_used, reason = "a failing test may panic")]

mod corpus;
mod draft;
mod matching;
mod names;
mod precedence;
mod prompts;
mod properties;
mod resolve;
mod servers;
mod shell;
mod template;

use sortie_agents::{AgentFile, Dialect, Registry, Scope};

const TOOLS: [&str; 13] = [
    "Read",
    "LS",
    "Glob",
    "Grep",
    "Write",
    "Edit",
    "MultiEdit",
    "WebFetch",
    "TodoWrite",
    "Bash",
    "BashOutput",
    "KillShell",
    "Task",
];

fn tools() -> Vec<String> {
    TOOLS.map(str::to_owned).to_vec()
}

/// A valid definition at the given path and scope.
fn file(path: &str, scope: Scope, name: &str) -> AgentFile {
    let dialect = if path.starts_with(".claude") { Dialect::Foreign } else { Dialect::Ours };
    let text = format!("---\nname: {name}\ndescription: from {path}\n---\nYou are {name}.\n");
    AgentFile { path: path.to_owned(), scope, dialect, trusted: false, bytes: text.into_bytes() }
}

fn trusted(file: AgentFile) -> AgentFile {
    AgentFile { trusted: true, ..file }
}

fn assemble(files: Vec<AgentFile>) -> Registry {
    Registry::assemble(files, Vec::new(), &tools())
}

/// The registry's findings about its files, one per line.
fn findings(registry: &Registry) -> String {
    registry.findings().iter().map(|finding| format!("{finding}\n")).collect::<Vec<_>>().concat()
}
