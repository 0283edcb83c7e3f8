//! Shorthands for the tests.

use std::path::PathBuf;

use sortie_policy::{Decision, Ground, Judge, Places};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

/// Every tool known to rules, and some unknown ones.
pub(crate) const TOOLS: [&str; 24] = [
    "Read",
    "LS",
    "Glob",
    "Grep",
    "Edit",
    "Write",
    "MultiEdit",
    "Bash",
    "BashOutput",
    "KillShell",
    "WebFetch",
    "Task",
    "task",
    "Agent",
    "SendMessage",
    "TaskOutput",
    "TaskStop",
    "TaskList",
    "Ask",
    "Note",
    "TodoWrite",
    "mcp__db__query",
    "mcp__web__get",
    "Novelty",
];

pub(crate) const READING: [&str; 4] = ["Read", "LS", "Glob", "Grep"];
pub(crate) const EDITING: [&str; 3] = ["Edit", "Write", "MultiEdit"];

/// The strictness of a decision, without its ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl From<&Decision> for Verdict {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Ask(_) => Self::Ask,
            Decision::Deny(_) => Self::Deny,
        }
    }
}

pub(crate) fn places() -> Places {
    Places {
        root: Some(PathBuf::from("/people/me/project")),
        added: vec![PathBuf::from("/srv/data"), PathBuf::from("/srv/src")],
        home: Some(PathBuf::from("/people/me")),
        own: vec![PathBuf::from("/people/me/.config/sortie"), PathBuf::from("/var/lib/sortie")],
        private: vec![PathBuf::from("/var/lib/sortie")],
        secrets: Vec::new(),
        other_homes: Vec::new(),
    }
}

pub(crate) fn path(path: &str) -> Resource {
    Resource::Path(PathBuf::from(path))
}

/// A line run at the workspace root.
pub(crate) fn command(line: &str) -> Resource {
    command_in("", line)
}

pub(crate) fn command_in(directory: &str, line: &str) -> Resource {
    Resource::Command { line: line.to_owned(), directory: PathBuf::from(directory) }
}

pub(crate) fn host(host: &str) -> Resource {
    Resource::Host(host.to_owned())
}

pub(crate) fn agent(name: &str) -> Resource {
    Resource::Agent { name: name.to_owned(), aliases: Vec::new() }
}

pub(crate) fn texts(rules: &[&str]) -> Vec<String> {
    rules.iter().map(|&rule| rule.to_owned()).collect()
}

/// A layer of the user's settings.
pub(crate) fn settings() -> GrantLayer {
    GrantLayer::new("user settings")
}

pub(crate) fn in_mode(mode: Mode) -> GrantLayer {
    GrantLayer { mode: Some(mode), ..settings() }
}

pub(crate) fn deny(rules: &[&str]) -> GrantLayer {
    GrantLayer { deny: texts(rules), ..settings() }
}

pub(crate) fn ask(rules: &[&str]) -> GrantLayer {
    GrantLayer { ask: texts(rules), ..settings() }
}

/// Default mode with these allow rules.
pub(crate) fn allow(rules: &[&str]) -> GrantLayer {
    GrantLayer { allow: texts(rules), ..in_mode(Mode::Default) }
}

/// An agent with these tools.
pub(crate) fn tools(rules: &[&str]) -> GrantLayer {
    GrantLayer { tools: Some(texts(rules)), ..GrantLayer::new("agent explore") }
}

pub(crate) fn grant(layers: impl IntoIterator<Item = GrantLayer>) -> Grant {
    Grant { layers: layers.into_iter().collect() }
}

pub(crate) fn judge(layers: impl IntoIterator<Item = GrantLayer>) -> Judge {
    Judge::new(&grant(layers), places()).expect("the rules can be read")
}

/// The verdict of a single layer on a call.
pub(crate) fn verdict(layer: GrantLayer, tool: &str, resource: &Resource) -> Verdict {
    Verdict::from(&judge([layer]).decide(tool, resource))
}

/// The ground of a decision that does not allow.
pub(crate) fn ground(decision: Decision) -> Ground {
    match decision {
        Decision::Allow => panic!("it is allowed"),
        Decision::Ask(ground) | Decision::Deny(ground) => ground,
    }
}
