//! The failure of one attempt to write.

use rustix::io::Errno;

use crate::files::error::WriteError;

/// Reason why one attempt failed.
pub(super) enum AttemptError {
    /// The kernel's error; some of them mean that the path now leads elsewhere.
    Errno(Errno),
    /// Retrying would not help.
    Final(WriteError),
}

impl From<Errno> for AttemptError {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<WriteError> for AttemptError {
    fn from(error: WriteError) -> Self {
        Self::Final(error)
    }
}
