//! Errors of writing files.

use std::io;

use crate::paths::{AccessError, FileKind, shown};

/// Reason why a file was not written. Nothing has changed, except after [`Unsynced`](Self::Unsynced).
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Access(#[from] AccessError),

    #[error("`{path}` has changed since it was read; read it again")]
    Changed { path: String },

    #[error("`{path}` already exists; read it first")]
    Exists { path: String },

    #[error("`{path}` no longer exists; it was there when it was read")]
    Vanished { path: String },

    #[error("`{path}` is a directory, not a file")]
    IsDirectory { path: String },

    #[error("`{path}` is a {kind}; only regular files can be written")]
    NotRegular { path: String, kind: FileKind },

    #[error("`{path}` cannot be written: this user lacks permission for it or its directory")]
    Denied { path: String },

    #[error("`{path}` was not written: its new version could not keep {what}; change it by hand")]
    Unkept { path: String, what: String, source: io::Error },

    #[error("`{path}` was not written: others kept its directory locked for {seconds} seconds; try again")]
    Busy { path: String, seconds: u64 },

    #[error("`{path}` was not written: the caller was stopped")]
    Stopped { path: String },

    #[error("`{path}` was not written: no random name could be generated for its new version")]
    Random { path: String, source: getrandom::Error },

    #[error("`{path}` was written, but the disk did not confirm that it will last")]
    Unsynced { path: String, source: io::Error },

    #[error("`{path}` could not be written")]
    Io { path: String, source: io::Error },
}

impl WriteError {
    /// The error for `errno`, if the path is already known to lead inside.
    pub(crate) fn from_errno(path: &str, errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match errno {
            Errno::ACCESS | Errno::PERM => Self::Denied { path: shown(path) },
            Errno::ISDIR => Self::IsDirectory { path: shown(path) },
            Errno::NOTDIR | Errno::NAMETOOLONG => AccessError::from_errno(path, errno).into(),
            other => Self::Io { path: shown(path), source: other.into() },
        }
    }
}
