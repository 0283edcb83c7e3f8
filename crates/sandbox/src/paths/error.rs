//! Errors of paths that could not be used, in words that a model or a person can act on.

use std::io;
use std::path::{Path, PathBuf};

use crate::paths::file_kind::FileKind;

/// Reason why a path in the workspace could not be used. `path` is the path as requested, shortened if very long.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// Does not reveal whether anything exists there.
    #[error("`{path}` is outside the workspace {}", bounds(root, added))]
    Outside { path: String, root: PathBuf, added: Vec<PathBuf> },

    /// A [`Guard`](crate::Guard) refused. The same answer whether or not anything exists there.
    #[error("`{path}` may not be used: {reason}")]
    Refused { path: String, reason: String },

    #[error("`{path}` does not exist; the nearest existing directory is `{}`", nearest.display())]
    NotFound { path: String, nearest: PathBuf },

    #[error("`{path}` is a directory, not a file")]
    IsDirectory { path: String },

    #[error("`{path}` is not a directory, or passes through something that is not one")]
    NotADirectory { path: String },

    #[error("`{path}` is a {kind}; only regular files can be read")]
    NotRegular { path: String, kind: FileKind },

    #[error("`{path}` cannot be reached or read: this user lacks permission")]
    Denied { path: String },

    #[error("`{path}` is not a usable path: {reason}")]
    InvalidPath { path: String, reason: &'static str },

    #[error("`{path}` disappeared while it was being opened")]
    Vanished { path: String },

    #[error("`{path}` kept changing while it was being used; try again")]
    Unstable { path: String },

    #[error("`{path}` has {size} bytes, more than the {max} that can be read at once")]
    TooLarge { path: String, size: u64, max: u64 },

    #[error("`{path}` could not be read")]
    Io { path: String, source: io::Error },
}

/// Reason why a directory cannot be a workspace, or be added to one.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("the directory {} does not exist; name an existing directory", root.display())]
    NotFound { root: PathBuf },

    #[error("{} is not a directory; name the directory that contains it", root.display())]
    NotADirectory { root: PathBuf },

    #[error("the directory {} cannot be entered by this user; check its permissions", root.display())]
    Denied { root: PathBuf },

    #[error("the directory {} could not be opened", root.display())]
    Io { root: PathBuf, source: io::Error },
}

impl AccessError {
    /// The error for `errno`, if the path is already known to lead inside.
    pub(crate) fn from_errno(path: &str, errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        let path = shown(path);
        match errno {
            Errno::NOTDIR => Self::NotADirectory { path },
            Errno::ISDIR => Self::IsDirectory { path },
            Errno::ACCESS | Errno::PERM => Self::Denied { path },
            Errno::NAMETOOLONG => Self::InvalidPath { path, reason: "it is too long" },
            Errno::NOENT => Self::Vanished { path },
            Errno::LOOP | Errno::XDEV | Errno::AGAIN => Self::Unstable { path },
            other => Self::Io { path, source: other.into() },
        }
    }

    pub(crate) fn invalid(path: &str, reason: &'static str) -> Self {
        Self::InvalidPath { path: shown(path), reason }
    }
}

impl WorkspaceError {
    pub(crate) fn new(root: &Path, source: io::Error) -> Self {
        let root = root.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { root },
            io::ErrorKind::NotADirectory => Self::NotADirectory { root },
            io::ErrorKind::PermissionDenied => Self::Denied { root },
            _ => Self::Io { root, source },
        }
    }
}

fn bounds(root: &Path, added: &[PathBuf]) -> String {
    if added.is_empty() {
        return format!("{}; only paths inside it can be used", root.display());
    }
    let added: Vec<String> = added.iter().map(|path| path.display().to_string()).collect();
    format!("{} and the added directories ({}); only paths inside can be used", root.display(), added.join(", "))
}

/// The path as errors show it: control characters escaped, at most 200 characters.
pub(crate) fn shown(path: &str) -> String {
    const MAX_CHARS: usize = 200;
    let mut text = String::new();
    for (count, character) in path.chars().enumerate() {
        if count == MAX_CHARS {
            text.push('…');
            break;
        }
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}
