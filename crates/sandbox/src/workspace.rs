//! The workspace: one directory, pinned, and every access to what lies in it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::beneath::{self, LIST, LOOK, READ};
use crate::entries::Entries;
use crate::error::{AccessError, WorkspaceError, shown};
use crate::follow::{Root, follow};
use crate::kind::FileKind;
use crate::stamp::Stamp;

/// How often an access starts anew because the tree changed between finding out where a path leads and opening it.
const MAX_ATTEMPTS: usize = 8;

/// A directory tree that cannot be left.
///
/// The root is pinned as an open directory: what happens to its name afterwards does not redirect any access.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    directory: OwnedFd,
}

/// Where a path leads, inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Relative to the root, links and `..` worked out; empty for the root itself.
    pub relative: PathBuf,
    pub kind: FileKind,
}

impl Workspace {
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let fail = |source: io::Error| {
            let root = root.to_owned();
            match source.kind() {
                io::ErrorKind::NotFound => WorkspaceError::NotFound { root },
                io::ErrorKind::NotADirectory => WorkspaceError::NotADirectory { root },
                io::ErrorKind::PermissionDenied => WorkspaceError::Denied { root },
                _ => WorkspaceError::Io { root, source },
            }
        };
        let canonical = root.canonicalize().map_err(fail)?;
        let flags = LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(CWD, &canonical, flags, Mode::empty()).map_err(|errno| fail(errno.into()))?;
        Ok(Self { root: canonical, directory })
    }

    /// The canonical path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where `path` leads and what is there. Absolute or relative to the root, in any spelling.
    pub fn resolve(&self, path: &str) -> Result<Resolved, AccessError> {
        self.attempt(path, |relative| {
            let kind = beneath::kind_of(&beneath::open(self.directory.as_fd(), relative, LOOK)?)?;
            Ok(Ok(Resolved { relative: relative.to_owned(), kind: kind.into() }))
        })
    }

    /// What the file at `path` looks like now. Nothing is opened for real.
    pub fn stamp(&self, path: &str) -> Result<Stamp, AccessError> {
        self.attempt(path, |relative| {
            let looked_at = File::from(beneath::open(self.directory.as_fd(), relative, LOOK)?);
            Ok(looked_at
                .metadata()
                .map(|metadata| Stamp::from(&metadata))
                .map_err(|source| AccessError::Io { path: shown(path), source }))
        })
    }

    /// Opens a regular file for reading. Anything else is an error at once; no byte of it is consumed.
    pub fn open_file(&self, path: &str) -> Result<File, AccessError> {
        self.attempt(path, |relative| self.open_regular(path, relative))
    }

    /// Opens a regular file found by a walk: `relative` to the root, plain names only. A link is refused, not followed.
    pub fn open_relative(&self, relative: &Path) -> Result<File, AccessError> {
        let path = relative.to_string_lossy();
        self.open_regular(&path, relative).map_err(|errno| AccessError::from_errno(&path, errno))?
    }

    /// Opens a regular file that a listing has just named as one: `relative` to the root, plain names only.
    ///
    /// Unlike [`open_relative`](Self::open_relative) this looks at it only once it is open, which saves a search through
    /// many files half of its opens. What has taken the file's place since the listing is refused all the same.
    pub fn open_listed(&self, relative: &Path) -> Result<File, AccessError> {
        let path = relative.to_string_lossy();
        self.open_unseen(&path, relative).map_err(|errno| AccessError::from_errno(&path, errno))?
    }

    /// Lists a directory found by [`resolve`](Self::resolve) or by a walk: `relative` to the root, plain names only.
    pub fn read_dir(&self, relative: &Path) -> Result<Entries, AccessError> {
        let path = relative.to_string_lossy();
        let directory = beneath::open(self.directory.as_fd(), relative, LIST);
        Entries::new(directory.map_err(|errno| AccessError::from_errno(&path, errno))?, &path)
    }

    /// Follows `path` and opens where it leads; anew, if something on the way has become a link in the meantime.
    fn attempt<T>(
        &self,
        path: &str,
        open: impl Fn(&Path) -> rustix::io::Result<Result<T, AccessError>>,
    ) -> Result<T, AccessError> {
        let root = Root { path: &self.root, directory: self.directory.as_fd() };
        for _ in 0..MAX_ATTEMPTS {
            let relative = follow(root, path)?;
            match open(&relative) {
                Ok(result) => return result,
                Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => {}
                Err(Errno::NOENT) => {
                    return Err(AccessError::NotFound {
                        path: shown(path),
                        nearest: self.nearest_directory(&relative),
                    });
                }
                Err(errno) => return Err(AccessError::from_errno(path, errno)),
            }
        }
        Err(AccessError::Unstable { path: shown(path) })
    }

    fn open_regular(&self, path: &str, relative: &Path) -> rustix::io::Result<Result<File, AccessError>> {
        // Looked at first, because opening a device can already have an effect; looked at again once open, because the
        // name may have come to mean something else in between.
        let kind = beneath::kind_of(&beneath::open(self.directory.as_fd(), relative, LOOK)?)?;
        if kind != FileType::RegularFile {
            return Ok(Err(not_regular(path, kind)));
        }
        match self.open_unseen(path, relative) {
            Err(Errno::NOENT) => Ok(Err(AccessError::Vanished { path: shown(path) })),
            opened => opened,
        }
    }

    fn open_unseen(&self, path: &str, relative: &Path) -> rustix::io::Result<Result<File, AccessError>> {
        let file = beneath::open(self.directory.as_fd(), relative, READ)?;
        let kind = beneath::kind_of(&file)?;
        if kind != FileType::RegularFile {
            return Ok(Err(not_regular(path, kind)));
        }
        Ok(Ok(File::from(file)))
    }

    /// The closest ancestor of `relative` that is a directory: `.` for the root.
    fn nearest_directory(&self, relative: &Path) -> PathBuf {
        relative
            .ancestors()
            .skip(1)
            .find(|ancestor| beneath::open(self.directory.as_fd(), ancestor, LOOK | OFlags::DIRECTORY).is_ok())
            .filter(|ancestor| !ancestor.as_os_str().is_empty())
            .map_or_else(|| PathBuf::from("."), Path::to_owned)
    }
}

fn not_regular(path: &str, kind: FileType) -> AccessError {
    match kind {
        FileType::Directory => AccessError::IsDirectory { path: shown(path) },
        other => AccessError::NotRegular { path: shown(path), kind: other.into() },
    }
}
