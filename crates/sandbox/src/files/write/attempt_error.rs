//! The end of one attempt to write that came to nothing.

use rustix::io::Errno;

use crate::files::error::WriteError;

/// The reason for which one attempt came to nothing.
pub(super) enum AttemptError {
    /// What the kernel said; some of it means that the path leads elsewhere by now.
    Errno(Errno),
    /// Trying again would not help.
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
