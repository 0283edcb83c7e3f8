//! Keys that are known and checked but not supported in this version. They are refused in our files and reported in
//! foreign ones, never silently dropped; an isolation is refused in both. A value that asks for the default behaviour
//! is fine.

use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Value};
use crate::text::hidden_characters::shown;

/// Valid form of a key's value.
enum Shape {
    /// One of several words; `idle` words ask for the default behaviour.
    Word {
        idle: &'static [&'static str],
        later: &'static [&'static str],
    },
    /// Names, separated by commas or as a list.
    Names,
    Map,
}

const ISOLATION: &str = "isolation";

const LATER: [(&str, Shape); 6] = [
    ("skills", Shape::Names),
    ("hooks", Shape::Map),
    ("memory", Shape::Word { idle: &[], later: &["user", "project", "local"] }),
    ("background", Shape::Word { idle: &["false"], later: &["true"] }),
    ("effort", Shape::Word { idle: &["none"], later: &["low", "medium", "high", "xhigh", "max"] }),
    (ISOLATION, Shape::Word { idle: &["none"], later: &["worktree", "remote", "copy", "process", "fleet"] }),
];

/// Meaning of a value.
enum Asked {
    Nothing,
    /// Something not supported in this version.
    Later,
    /// Something invalid; contains the valid form.
    Nonsense(String),
}

/// Checks a key of this kind; `None` for other keys.
pub(super) fn check(entry: &Entry, report: &mut FileFindings<'_>) -> Option<()> {
    let (key, shape) = LATER.iter().find(|(key, _)| *key == entry.key)?;
    let said = match &entry.value.value {
        Value::Text(text) => format!("`{key}: {}`", shown(text)),
        _ => format!("`{key}`"),
    };
    match asked(&entry.value.value, shape) {
        Asked::Nothing => {}
        // Its author relies on it: without it the agent would change the files that it was to be kept away from.
        Asked::Nonsense(fix) if *key == ISOLATION => report.error(entry.line, format!("{said} is not valid"), fix),
        Asked::Later if *key == ISOLATION => {
            let fix = "delete the line, if the agent may work on your own files";
            report.error(entry.line, format!("{said} is not supported in this version"), fix);
        }
        Asked::Nonsense(fix) => report.strict(entry.line, format!("{said} is not valid"), fix),
        Asked::Later => {
            let fix = if report.is_ours() { "delete the line" } else { "the agent runs without it" };
            report.strict(entry.line, format!("{said} is not supported in this version"), fix);
        }
    }
    Some(())
}

fn asked(value: &Value, shape: &Shape) -> Asked {
    match (shape, value) {
        (_, Value::Nothing) => Asked::Nothing,
        (Shape::Word { idle, .. }, Value::Text(word)) if idle.contains(&word.as_str()) => Asked::Nothing,
        (Shape::Word { later, .. }, Value::Text(word)) if later.contains(&word.as_str()) => Asked::Later,
        (Shape::Word { idle, later }, _) => {
            Asked::Nonsense(format!("it can be {}", [*idle, *later].concat().join(", ")))
        }
        (_, value) if is_empty(value) => Asked::Nothing,
        (Shape::Names, Value::Text(_) | Value::List(_)) | (Shape::Map, Value::Map(_)) => Asked::Later,
        (Shape::Names, _) => Asked::Nonsense("it can be a list of names".to_owned()),
        (Shape::Map, _) => Asked::Nonsense("it can be a mapping".to_owned()),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Nothing => true,
        Value::Text(text) => text.trim().is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
    }
}
