//! Why a file could not be reached, in words that a model or a person can act on.

use std::io;
use std::path::{Path, PathBuf};

use crate::FileKind;

/// Why a path in the workspace could not be used. `path` is the path as it was asked for, shortened if very long.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The same answer whether or not anything exists there.
    #[error("`{path}` is outside the workspace {}; only paths inside it can be used", root.display())]
    Outside { path: String, root: PathBuf },

    #[error("`{path}` does not exist; the nearest existing directory is `{}`", nearest.display())]
    NotFound { path: String, nearest: PathBuf },

    #[error("`{path}` is a directory, not a file")]
    IsDirectory { path: String },

    #[error("`{path}` is not a directory, or passes through something that is not one")]
    NotADirectory { path: String },

    #[error("`{path}` is a {kind}; only regular files can be read")]
    NotRegular { path: String, kind: FileKind },

    #[error("`{path}` may not be read: the file system denies it to this user")]
    Denied { path: String },

    #[error("`{path}` is not a usable path: {reason}")]
    InvalidPath { path: String, reason: &'static str },

    #[error("`{path}` disappeared while it was being opened")]
    Vanished { path: String },

    #[error("`{path}` kept changing while it was being opened; try again")]
    Unstable { path: String },

    #[error("`{path}` could not be read")]
    Io { path: String, source: io::Error },
}

/// Why a directory cannot be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("the workspace {} does not exist; name an existing directory", root.display())]
    NotFound { root: PathBuf },

    #[error("the workspace {} is not a directory; name the directory that holds it", root.display())]
    NotADirectory { root: PathBuf },

    #[error("the workspace {} may not be entered by this user; check its permissions", root.display())]
    Denied { root: PathBuf },

    #[error("the workspace {} could not be opened", root.display())]
    Io { root: PathBuf, source: io::Error },
}

/// Why a text could not be spilled to a file.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    #[error("the spill directory {} could not be opened", directory.display())]
    Open { directory: PathBuf, source: io::Error },

    #[error("the spill directory {} belongs to another user; remove it or choose another", directory.display())]
    Foreign { directory: PathBuf },

    #[error("the spill directory {} is open to others (mode {mode:o}); run `chmod 700` on it", directory.display())]
    Exposed { directory: PathBuf, mode: u32 },

    #[error("no random name could be made for a spill file")]
    Random { source: getrandom::Error },

    #[error("the spill file {} could not be written", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl AccessError {
    /// The error for `errno`, where the path was already known to lead inside.
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

    pub(crate) fn outside(path: &str, root: &Path) -> Self {
        Self::Outside { path: shown(path), root: root.to_owned() }
    }
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
