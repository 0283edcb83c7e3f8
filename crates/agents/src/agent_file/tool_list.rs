//! `tools` and `disallowedTools`. Allowed tools are read strictly, forbidden ones generously: no spelling may grant
//! more than its author meant.

mod disallowed;
mod granted;

pub(super) use self::disallowed::disallowed;
pub(crate) use self::disallowed::matches;
pub(super) use self::granted::{Granted, granted};

use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Node, Value};
use crate::text::hidden_characters::shown;
use sortie_policy::{Rule, RuleError};
use sortie_protocol::nearest;

/// Tools named in agent files of other programs that do not exist here yet.
const LATER: [&str; 28] = [
    "AskUserQuestion",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "KillBash",
    "LSP",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "ReadMcpResourceTool",
    "Skill",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoRead",
    "ToolSearch",
    "WebSearch",
    "Workflow",
];

const TASK: &str = "Task";
/// Another program's name for it in agent files.
const OTHER_NAME_OF_TASK: &str = "Agent";
/// Foreign tool names with their equivalents here. A file can deny by all of them, but grant only by `Agent`.
const OTHER_NAMES: [(&str, &str); 3] =
    [(OTHER_NAME_OF_TASK, TASK), ("spawn_agent", TASK), ("create_todo", "TodoWrite")];

/// No real list has more names than this, and each could become a finding.
const MAX_NAMES: usize = 200;

/// One name in a list, as written, perhaps with a pattern in parentheses.
struct Name<'a> {
    text: &'a str,
    line: usize,
}

impl<'a> Name<'a> {
    /// The tool's bare name, and its pattern with the parentheses, or empty.
    fn parts(&self) -> (&'a str, &'a str) {
        let (name, pattern) = self.text.split_at(self.text.find('(').unwrap_or(self.text.len()));
        (name.trim_end(), pattern)
    }
}

/// Builds the rules for a tool and a pattern in parentheses. Several agents in one pattern become one rule each.
fn rules(tool: &str, pattern: &str) -> Result<Vec<String>, RuleError> {
    let inner = pattern.strip_prefix('(').and_then(|pattern| pattern.strip_suffix(')'));
    let rules: Vec<String> = match inner {
        Some(agents) if tool == TASK => agents.split(',').map(|agent| format!("{tool}({})", agent.trim())).collect(),
        _ => vec![format!("{tool}{pattern}")],
    };
    rules.iter().try_for_each(|rule| rule.parse::<Rule>().map(drop))?;
    Ok(rules)
}

fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>, tools: &[String]) -> String {
    match nearest(name, candidates) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tools are {}", tools.join(", ")),
    }
}

/// True if no character of the name can be mistaken for another.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

fn not_plain(name: &str) -> String {
    format!("`{}` looks like a tool's name, but has characters that no tool's name has", shown(name))
}

/// The names in a list or in a text with commas; `None`, and an error, for anything else.
fn names<'a>(entry: &'a Entry, report: &mut FileFindings<'_>) -> Option<Vec<Name<'a>>> {
    let nodes: &[Node] = match &entry.value.value {
        Value::Nothing => &[],
        Value::Text(_) => std::slice::from_ref(&entry.value),
        Value::List(items) => items,
        Value::Map(_) => {
            report.error(entry.line, format!("`{}` must be a list of names", entry.key), "write `Read, Grep`");
            return None;
        }
    };
    let mut names = Vec::new();
    for node in nodes {
        let Value::Text(text) = &node.value else {
            report.error(node.line, format!("`{}` must be a list of names", entry.key), "write one name per item");
            return None;
        };
        if let Some((message, fix)) = not_names(text) {
            report.error(node.line, format!("`{}` {message}: `{}`", entry.key, shown(text)), fix);
            return None;
        }
        names.extend(pieces(text).map(|text| Name { text, line: node.line }));
    }
    if names.len() > MAX_NAMES {
        report.error(entry.line, format!("`{}` has more than {MAX_NAMES} names", entry.key), "name fewer");
        return None;
    }
    Some(names)
}

/// Reason why a text is not a list of names, and the fix.
fn not_names(text: &str) -> Option<(&'static str, &'static str)> {
    /// Characters that no name contains: they are left over from a list, from quotes or from another key.
    const LEFT_OVER: [char; 8] = ['[', ']', '{', '}', '"', '\'', '`', ':'];
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(UNBALANCED),
            ')' => depth -= 1,
            _ if depth == 0 && LEFT_OVER.contains(&character) => {
                return Some(("is not a list of names", "write `Read, Grep`"));
            }
            _ => {}
        }
    }
    (depth > 0).then_some(UNBALANCED)
}

const UNBALANCED: (&str, &str) = ("has an unbalanced parenthesis", "close it, or delete it");

/// The parts between commas and line breaks outside parentheses, without blank ones.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        matches!(character, ',' | '\n') && depth == 0
    })
    .map(str::trim)
    .filter(|piece| !piece.is_empty())
}
