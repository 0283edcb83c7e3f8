//! Exit codes: 0 completed, 1 not completed or not found, 2 wrong usage or configuration, 128 + n for a signal.

use std::process::ExitCode;

use sortie_protocol::Status;

use super::ErrorKind;
use super::signal::Signal;

/// Exit code of a task's ending. A signal that interrupted it comes first.
pub(crate) fn of_outcome(status: Status, signal: Option<Signal>) -> ExitCode {
    match (signal, status) {
        (Some(signal), _) => signal.exit_code(),
        (None, Status::Completed) => ExitCode::SUCCESS,
        (None, Status::Partial | Status::Failed | Status::Cancelled | Status::Interrupted | Status::Rejected) => {
            ExitCode::from(1)
        }
    }
}

/// Exit code of a command that failed.
pub(crate) fn of_error(kind: ErrorKind) -> ExitCode {
    match kind {
        ErrorKind::Usage | ErrorKind::Config => ExitCode::from(2),
        ErrorKind::NotFound | ErrorKind::Unready | ErrorKind::Internal | ErrorKind::OutputLost => ExitCode::from(1),
        ErrorKind::OutputClosed => ExitCode::SUCCESS,
    }
}
