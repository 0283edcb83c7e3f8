//! Why a file could not be reached, in words that a model or a person can act on.

use std::io;
use std::path::{Path, PathBuf};

use crate::FileKind;
use crate::roots::Roots;

/// Why a path in the workspace could not be used. `path` is the path as it was asked for, shortened if very long.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The same answer whether or not anything exists there.
    #[error("`{path}` is outside the workspace {}", bounds(root, added))]
    Outside { path: String, root: PathBuf, added: Vec<PathBuf> },

    /// A [`Guard`](crate::Guard) said no. The same answer whether or not anything exists there.
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

    #[error("`{path}` may not be reached or read: the file system denies it to this user")]
    Denied { path: String },

    #[error("`{path}` is not a usable path: {reason}")]
    InvalidPath { path: String, reason: &'static str },

    #[error("`{path}` disappeared while it was being opened")]
    Vanished { path: String },

    #[error("`{path}` kept changing while it was being used; try again")]
    Unstable { path: String },

    #[error("`{path}` has {size} bytes, more than the {max} that can be taken at once")]
    TooLarge { path: String, size: u64, max: u64 },

    #[error("`{path}` could not be read")]
    Io { path: String, source: io::Error },
}

/// Why a file was not written. Nothing has changed, except after [`Unsynced`](Self::Unsynced).
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Access(#[from] AccessError),

    #[error("`{path}` has changed since it was read; read it again")]
    Changed { path: String },

    #[error("`{path}` exists already; read it first")]
    Exists { path: String },

    #[error("`{path}` no longer exists; it was there when it was read")]
    Vanished { path: String },

    #[error("`{path}` is a directory, not a file")]
    IsDirectory { path: String },

    #[error("`{path}` is a {kind}; only regular files can be written")]
    NotRegular { path: String, kind: FileKind },

    #[error("`{path}` may not be written: the file system denies it, or its directory, to this user")]
    Denied { path: String },

    #[error("`{path}` was not written: its new version could not keep {what}; change it by hand")]
    Unkept { path: String, what: String, source: io::Error },

    #[error("`{path}` was not written: others kept its directory locked for {seconds} seconds; try again")]
    Busy { path: String, seconds: u64 },

    #[error("`{path}` was not written: the caller had to stop")]
    Stopped { path: String },

    #[error("`{path}` was not written: no random name could be made for its new version")]
    Random { path: String, source: getrandom::Error },

    #[error("`{path}` was written, but the disk did not confirm that it will last")]
    Unsynced { path: String, source: io::Error },

    #[error("`{path}` could not be written")]
    Io { path: String, source: io::Error },
}

/// Why a directory cannot be a workspace, or be added to one.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("the directory {} does not exist; name an existing directory", root.display())]
    NotFound { root: PathBuf },

    #[error("{} is not a directory; name the directory that holds it", root.display())]
    NotADirectory { root: PathBuf },

    #[error("the directory {} may not be entered by this user; check its permissions", root.display())]
    Denied { root: PathBuf },

    #[error("the directory {} could not be opened", root.display())]
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

    #[error("the spill file {} could not be removed", path.display())]
    Discard { path: PathBuf, source: io::Error },

    #[error("the spill file {} could not be rewritten and is still there; remove it", path.display())]
    Left { path: PathBuf, source: io::Error },

    #[error("the file {} cannot be reached", path.display())]
    Reach { path: PathBuf, source: io::Error },

    #[error("the file {} is not used: {reason}; remove it", path.display())]
    Unusable { path: PathBuf, reason: &'static str },
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

    pub(crate) fn outside(path: &str, roots: &Roots) -> Self {
        let root = roots.workspace().path.clone();
        Self::Outside { path: shown(path), root, added: roots.added().map(Path::to_owned).collect() }
    }
}

impl WriteError {
    /// The error for `errno`, where the path was already known to lead inside.
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
    format!("{} and what was added to it ({}); only paths inside can be used", root.display(), added.join(", "))
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
