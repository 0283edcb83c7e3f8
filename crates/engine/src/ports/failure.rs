//! Failures of the journal, as a caller reads them.

use sortie_journal::JournalError;
use sortie_protocol::Failure;

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
pub(crate) fn journal_failure(error: JournalError) -> Failure {
    let code = match error {
        JournalError::Fenced { task, .. } | JournalError::LegOver { task, .. } | JournalError::Stale { task, .. } => {
            let message = format!("{task} has just been taken up by somebody else; wait for it, or stop it first");
            return Failure::new("still_running", message);
        }
        JournalError::NoSuchTask { .. } => "no_such_task",
        JournalError::StillRunning { .. } => "still_running",
        JournalError::OutOfSight { .. } => "out_of_sight",
        _ => "journal",
    };
    Failure::new(code, error.to_string())
}
