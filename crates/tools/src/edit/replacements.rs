//! Replacements in one file: its new text, or the reason why the file stays unchanged.

use sortie_protocol::Fault;

use super::file_change::{EditKind, NewText};
use super::file_text::FileText;
use super::refusal::{self, unchanged};
use super::replace::{Replaced, Replacement, Unreplaced, Why, replace};
use crate::answer::halt::Stop;
use crate::answer::tool_error::ToolError;
use crate::files::encoding::BYTE_ORDER_MARK;

/// Returns the text after all these replacements, or the reason why the file stays unchanged.
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
