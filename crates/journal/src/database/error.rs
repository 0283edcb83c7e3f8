//! Translates SQLite's errors into the journal's.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::port::JournalError;

/// Cause of a failure, before it is known which file and operation it belongs to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Something in the file differs from what was written.
    #[error("{0}")]
    Damage(String),
}

impl DatabaseError {
    /// True if the failed write left nothing behind and may succeed later: the disk was full, or another program held
    /// the lock. After a failed sync, the state of the disk is unknown.
    pub(crate) fn passes(&self) -> bool {
        let Self::Sqlite(error) = self else { return false };
        let code = error.sqlite_error_code();
        matches!(code, Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}

/// Operation on the file, for its error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Doing {
    Opening,
    Reading,
    Writing,
}

impl Doing {
    pub(crate) fn failed(self, path: &Path, failure: impl Into<DatabaseError>) -> JournalError {
        let error = match failure.into() {
            DatabaseError::Journal(error) => return error,
            DatabaseError::Damage(cause) => return JournalError::Damaged { path: path.to_owned(), cause },
            DatabaseError::Sqlite(error) => error,
        };
        let (path, cause) = (path.to_owned(), error.to_string());
        match (error.sqlite_error_code(), self) {
            (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => JournalError::Locked { path, cause },
            (Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt), _) => JournalError::Damaged { path, cause },
            (Some(ErrorCode::ReadOnly), Self::Opening | Self::Writing) => JournalError::ReadOnly { path },
            (Some(ErrorCode::DiskFull), _) => JournalError::Write { cause },
            (Some(ErrorCode::SystemIoFailure), Self::Opening) => JournalError::Read { path, cause },
            (None, _) if is_unreadable_value(&error) => JournalError::Damaged { path, cause },
            (_, Self::Opening) => JournalError::Open { path, cause },
            (_, Self::Reading) => JournalError::Read { path, cause },
            (_, Self::Writing) => JournalError::Write { cause },
        }
    }
}

/// True if a row exists but holds something that no version has ever written.
fn is_unreadable_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
    )
}
