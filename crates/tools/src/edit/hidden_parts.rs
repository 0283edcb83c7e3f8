//! Guards for the parts of a file that a model cannot see: no redaction mark, NUL or damaged secret gets in.
//!
//! Secrets are redacted from everything that models read. A model that wrote a redaction mark back would overwrite the
//! secret.

use sortie_policy::redaction_marks;
use sortie_protocol::Fault;

use super::file_change::{EditKind, NewText};
use super::refusal::unchanged;
use crate::answer::tool_error::ToolError;
use crate::files::read_state::Seen;

/// Refuses a text with more redaction marks or NULs than the text before it; a new file has none before.
pub(super) fn require_plain(path: &str, before: Option<&str>, after: &NewText) -> Result<(), ToolError> {
    let refuse = |why: &str| Err(unchanged(path, Fault::Arguments, why));
    let n_held = |text: &str, what: &str| text.matches(what).count();
    let is_new = |what: &str| n_held(&after.text, what) > n_held(before.unwrap_or_default(), what);
    if is_new("\0") {
        return refuse("the new text holds a NUL, which no text file does; leave it out");
    }
    let mut marks: Vec<&str> = redaction_marks(&after.text).collect();
    marks.sort_unstable();
    marks.dedup();
    let Some(mark) = marks.into_iter().find(|mark| is_new(mark)) else { return Ok(()) };
    let advice = match after.kind {
        _ if before.is_none() => "leave it out of the new file",
        EditKind::Wrote => "use Edit, and leave that part out of old_string and new_string",
        EditKind::Replaced { .. } => "leave that part out of old_string and new_string",
    };
    refuse(&format!("`{mark}` only marks a hidden part, and would overwrite it; {advice}"))
}

/// Refuses replacements that reach into a secret. The model cannot know what they do, and the rest of the secret would
/// no longer look like one.
pub(super) fn require_secrets_kept(path: &str, seen: &Seen, before: &str, after: &NewText) -> Result<(), ToolError> {
    let is_replacement = matches!(after.kind, EditKind::Replaced { .. });
    if is_replacement && seen.loses_secrets(before, &after.text) {
        let why = "it would change a part that is hidden from you; choose an old_string that leaves that part alone";
        return Err(unchanged(path, Fault::NotAllowed, why));
    }
    Ok(())
}

/// Returns a hint for a model that searched for a text with a mark in it; `None` without a mark.
pub(super) fn hint(wanted: &str) -> Option<String> {
    let mark = redaction_marks(wanted).next()?;
    Some(format!(
        "`{mark}` only marks a part that is hidden from you: leave that part out of old_string and new_string."
    ))
}
