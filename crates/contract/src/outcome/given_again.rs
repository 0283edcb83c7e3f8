//! Cached outcomes: another task has done the same on the same files. Every dialect whose answer is more than the
//! report marks them.

use sortie_protocol::TaskOutcome;

/// Returns the notice of a cached outcome; `None` for any other.
pub fn given_again(outcome: &TaskOutcome) -> Option<&str> {
    outcome.given_again.as_deref()
}

/// The notice as a last line, for dialects that have no place for notices.
pub(crate) fn last_line(outcome: &TaskOutcome) -> String {
    given_again(outcome).map(|notice| format!("\n[{notice}]")).unwrap_or_default()
}
