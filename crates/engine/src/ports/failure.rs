//! Journal errors, turned into failures for a caller.

use sortie_journal::JournalError;
use sortie_protocol::{Failure, FailureCode};

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
pub(crate) fn journal_failure(error: JournalError) -> Failure {
    let code = match error {
        JournalError::Fenced { task, .. } | JournalError::LegOver { task, .. } | JournalError::Stale { task, .. } => {
            let message = format!("{task} was just resumed by another process; wait for it, or stop it first");
            return Failure::new(FailureCode::StillRunning, message);
        }
        JournalError::NoSuchTask { .. } => FailureCode::NoSuchTask,
        JournalError::StillRunning { .. } => FailureCode::StillRunning,
        JournalError::OutOfSight { .. } => FailureCode::OutOfSight,
        _ => FailureCode::Journal,
    };
    Failure::new(code, error.to_string())
}
