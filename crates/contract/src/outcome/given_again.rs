//! Outcomes that are given again: another task has done the same on the same files. Whoever gets one is told so, in
//! every dialect whose words are not the report's alone.

use sortie_protocol::TaskOutcome;

/// The notice of an outcome that is given again; `None` of any other.
pub fn given_again(outcome: &TaskOutcome) -> Option<&str> {
    outcome.given_again.as_deref()
}

/// The same as a last line, for dialects that have no place for notices.
pub(crate) fn last_line(outcome: &TaskOutcome) -> String {
    given_again(outcome).map(|notice| format!("\n[{notice}]")).unwrap_or_default()
}
