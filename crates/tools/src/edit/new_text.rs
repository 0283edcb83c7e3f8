//! `NewText`: the new text of a file, and how it was made.

use sortie_protocol::Fault;

use super::file_text::FileText;
use super::refusal::{self, unchanged};
use super::replace::{Replaced, Replacement, Unreplaced, Why, replace};
use crate::answer::halt::Stop;
use crate::answer::tool_error::ToolError;
use crate::files::encoding::BYTE_ORDER_MARK;

/// A new text, and the kind of edit that made it.
#[derive(Debug)]
pub(crate) struct NewText {
    /// As it stands in the file, a byte order mark aside.
    pub(crate) text: String,
    pub(crate) kind: EditKind,
}

/// The way in which a new text was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditKind {
    Wrote,
    Replaced { n_replacements: usize },
}

/// The text after all these replacements, or why the file stays as it is.
pub(crate) fn replaced(
    path: &str,
    before: &FileText,
    replacements: &[Replacement],
    stop: &Stop,
) -> Result<NewText, ToolError> {
    match replace(before.plain(), replacements, stop) {
        Ok(Replaced { text, n_replacements }) => {
            let is_odd = before.plain().starts_with(BYTE_ORDER_MARK);
            let text = if is_odd { &*text } else { before.without_mark(&text) };
            if text == before.plain() {
                return Err(unchanged(path, Fault::Arguments, "the edits undo each other"));
            }
            Ok(NewText { text: before.with_ends(text), kind: EditKind::Replaced { n_replacements } })
        }
        Err(Unreplaced { why: Why::Halted(halt), .. }) => Err(refusal::halted(path, halt)),
        Err(Unreplaced { index, why: Why::Misfit(why) }) => {
            let which = match replacements.len() {
                1 => String::new(),
                n_edits => format!("edit {} of {n_edits}: ", index + 1),
            };
            Err(unchanged(path, Fault::Arguments, &format!("{which}{why}")))
        }
    }
}
