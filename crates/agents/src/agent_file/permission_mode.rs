//! `permissionMode`: what an agent may do without approval. A file can only narrow the user's settings.

use sortie_protocol::Mode;

use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Value};
use crate::text::hidden_characters::shown;

/// Meaning of the key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Conduct {
    /// `None` keeps the parent's mode.
    pub(super) mode: Option<Mode>,
    pub(super) never_asks: bool,
}

const WORDS: &str = "default, manual, acceptEdits, plan, dontAsk or bypassPermissions";

/// Reads the value. An unknown one is an error: its author wanted something narrower.
pub(super) fn permission_mode(entry: &Entry, report: &mut FileFindings<'_>) -> Conduct {
    let mode = |mode| Conduct { mode: Some(mode), never_asks: false };
    let word = match &entry.value.value {
        Value::Text(text) => text.trim(),
        Value::Nothing => "",
        Value::List(_) | Value::Map(_) => {
            report.error(entry.line, "`permissionMode` must be a word", format!("it can be {WORDS}"));
            return Conduct::default();
        }
    };
    match word {
        "default" | "manual" => return mode(Mode::Default),
        "acceptEdits" => return mode(Mode::AcceptEdits),
        "plan" => return mode(Mode::Plan),
        "dontAsk" => return Conduct { mode: None, never_asks: true },
        "bypassPermissions" => {
            let message = "`permissionMode: bypassPermissions` has no effect: a file can only narrow";
            report.warning(entry.line, message, "delete the line");
        }
        "auto" => {
            let fix = if report.is_ours() { "delete the line" } else { "the agent may do what its parent may" };
            report.strict(entry.line, "`permissionMode: auto` is not supported in this version", fix);
        }
        "" => report.strict(entry.line, "`permissionMode` has no value", "give it one, or delete the line"),
        word => {
            let message = format!("`permissionMode: {}` is not valid", shown(word));
            report.error(entry.line, message, format!("it can be {WORDS}"));
        }
    }
    Conduct::default()
}
