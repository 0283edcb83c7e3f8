//! Creates a file, or replaces it as a whole: readers see the old version or the new one, never a part of it.
//!
//! The new version is written next to the old one, under a name like `.sortie-write-0123456789abcdef.tmp`, and takes
//! its place by a rename. Another name of the same file (a hard link) keeps the old version. A process killed in
//! between leaves such a file behind: see [`leftover`].

mod attempt_error;
mod attributes;
pub(super) mod leftover;
mod lock;
pub(super) mod parents;
mod temporary;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Mode, accessat, fstat};
use rustix::io::Errno;
use sortie_crash::point;

use self::attempt_error::AttemptError;
use self::lock::Lock;
use self::parents::Parents;
use self::temporary::Temporary;
use crate::files::error::WriteError;
use crate::paths::safe_open::{self, LOOK, READ};
use crate::paths::{Access, AccessError, FileKind, GuardedRoots, MAX_ATTEMPTS, Place, Stamp, shown};

/// Time to wait for another writer in the same directory.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Precondition of a write. Anything else at the path is a conflict, and nothing happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing is there.
    Absent,
    /// The file with this stamp, unchanged.
    Content { stamp: Stamp },
}

/// Result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Resolved path: relative to the root, absolute in an added directory.
    pub path: PathBuf,
    /// True if the file is new.
    pub created: bool,
    /// The stamp of exactly the version that was written.
    pub stamp_after: Stamp,
}

/// The conditions of a write.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) expected: Expected,
    /// Called while waiting for others, and right before the new version takes its place.
    pub(super) is_stopped: &'a dyn Fn() -> bool,
}

/// Implements [`Workspace::write_unless`](crate::Workspace::write_unless).
pub(super) fn write(
    inside: &GuardedRoots,
    path: &str,
    content: &[u8],
    terms: Terms<'_>,
) -> Result<Written, WriteError> {
    let Terms { expected, is_stopped } = terms;
    for _ in 0..MAX_ATTEMPTS {
        let place = inside.find(path, Access::Write)?;
        match (Writing { path, place: &place, expected, is_stopped }).run(content) {
            Ok(stamp_after) => {
                let created = expected == Expected::Absent;
                return Ok(Written { path: place.name().into_owned(), created, stamp_after });
            }
            // Something on the way has gone or become a link.
            Err(AttemptError::Errno(Errno::LOOP | Errno::XDEV | Errno::AGAIN | Errno::NOENT)) => {}
            Err(AttemptError::Errno(errno)) => return Err(WriteError::from_errno(path, errno)),
            Err(AttemptError::Final(error)) => return Err(error),
        }
    }
    Err(AccessError::Unstable { path: shown(path) }.into())
}

/// One attempt to write.
struct Writing<'a> {
    path: &'a str,
    place: &'a Place<'a>,
    expected: Expected,
    is_stopped: &'a dyn Fn() -> bool,
}

impl Writing<'_> {
    fn run(&self, content: &[u8]) -> Result<Stamp, AttemptError> {
        let name = self.file_name()?;
        let parents = self.parents()?;
        let directory = parents.directory();
        // Locked before the new version is created. So a writer stopped while it waits leaves nothing behind, and a new
        // version found under the lock no longer has a writer.
        let lock = self.lock(directory)?;
        let old = self.look(directory, name)?;
        self.verify(old.as_ref().map(|old| &old.stamp))?;
        if old.is_some() {
            accessat(directory, name, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS)?;
        }

        let private = Mode::RUSR | Mode::WUSR;
        let mode = if old.is_some() { private } else { Mode::from_raw_mode(0o666) };
        let mut temporary = Temporary::create(directory, mode, self.path)?;
        temporary.fill(content).map_err(|source| self.failed(source))?;
        if let Some(old) = &old {
            attributes::keep(&old.file, temporary.file(), self.path)?;
        }
        // Set by hand, because file system clocks are coarse. A version written in the same tick, with an equal size
        // and a recycled inode, must not have the stamp of the version before.
        let finish = |file: &File| {
            file.set_modified(SystemTime::now())?;
            file.sync_all()?;
            Stamp::of(file)
        };
        let synced = finish(temporary.file()).map_err(|source| self.failed(source))?;

        self.verify(stamp(directory, name)?.as_ref())?;
        self.require_going()?;
        point("write.before-rename");
        match self.expected {
            Expected::Absent => temporary.appear_as(name).map_err(|errno| self.unless_exists(errno))?,
            Expected::Content { .. } => temporary.replace(name)?,
        }
        point("write.renamed");
        parents.keep();
        // The rename itself changes the file's times, but not its content.
        let renamed = Stamp::of(temporary.file()).map_err(|source| self.unsynced(source))?;
        if lock.is_shared_by_all() {
            leftover::remove(directory);
        }
        drop(lock);
        parents.sync().map_err(|errno| self.unsynced(errno.into()))?;
        Ok(synced.renamed(&renamed))
    }

    fn lock<'d>(&self, directory: BorrowedFd<'d>) -> Result<Lock<'d>, AttemptError> {
        if let Some(lock) = lock::exclusive(directory, LOCK_PATIENCE, self.is_stopped)? {
            return Ok(lock);
        }
        self.require_going()?;
        Err(WriteError::Busy { path: shown(self.path), seconds: LOCK_PATIENCE.as_secs() }.into())
    }

    fn require_going(&self) -> Result<(), WriteError> {
        if (self.is_stopped)() { Err(WriteError::Stopped { path: shown(self.path) }) } else { Ok(()) }
    }

    fn file_name(&self) -> Result<&OsStr, WriteError> {
        let name = self.place.beneath.file_name();
        let name = name.ok_or_else(|| WriteError::IsDirectory { path: shown(self.path) })?;
        if self.path.ends_with('/') || self.path.ends_with("/.") {
            return Err(AccessError::invalid(self.path, "it ends like the path of a directory").into());
        }
        Ok(name)
    }

    /// Opens the directory of the file; creates it if the file must be new.
    fn parents(&self) -> Result<Parents<'_>, AttemptError> {
        let parent = self.place.beneath.parent().unwrap_or(Path::new(""));
        let root = self.place.root.directory();
        match self.expected {
            Expected::Absent => Ok(Parents::open_or_make(root, parent)?),
            Expected::Content { .. } => match Parents::open(root, parent) {
                Err(Errno::NOENT) => Err(WriteError::Vanished { path: shown(self.path) }.into()),
                opened => Ok(opened?),
            },
        }
    }

    /// Returns the current file, if any. A link there is an [`Errno::LOOP`].
    fn look(&self, directory: BorrowedFd<'_>, name: &OsStr) -> Result<Option<Old>, AttemptError> {
        let Some(seen) = stamp(directory, name)? else { return Ok(None) };
        self.require_regular(seen.kind)?;
        let file = safe_open::open(directory, name.as_ref(), READ)?;
        let stamp = Stamp::from(fstat(&file)?);
        self.require_regular(stamp.kind)?;
        Ok(Some(Old { file: file.into(), stamp }))
    }

    fn require_regular(&self, kind: FileKind) -> Result<(), WriteError> {
        match kind {
            FileKind::File => Ok(()),
            FileKind::Directory => Err(WriteError::IsDirectory { path: shown(self.path) }),
            kind => Err(WriteError::NotRegular { path: shown(self.path), kind }),
        }
    }

    fn verify(&self, found: Option<&Stamp>) -> Result<(), WriteError> {
        let path = shown(self.path);
        match (self.expected, found) {
            (Expected::Absent, None) => Ok(()),
            (Expected::Absent, Some(_)) => Err(WriteError::Exists { path }),
            (Expected::Content { .. }, None) => Err(WriteError::Vanished { path }),
            (Expected::Content { stamp }, Some(found)) if stamp == *found => Ok(()),
            (Expected::Content { .. }, Some(_)) => Err(WriteError::Changed { path }),
        }
    }

    fn unless_exists(&self, errno: Errno) -> AttemptError {
        match errno {
            Errno::EXIST => WriteError::Exists { path: shown(self.path) }.into(),
            other => other.into(),
        }
    }

    fn failed(&self, source: io::Error) -> WriteError {
        WriteError::Io { path: shown(self.path), source }
    }

    fn unsynced(&self, source: io::Error) -> WriteError {
        WriteError::Unsynced { path: shown(self.path), source }
    }
}

/// The version to replace.
struct Old {
    file: File,
    stamp: Stamp,
}

/// The current stamp of a name, if it exists. A link there is an [`Errno::LOOP`].
fn stamp(directory: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<Option<Stamp>> {
    match safe_open::open(directory, name.as_ref(), LOOK) {
        Ok(file) => Ok(Some(Stamp::from(fstat(file)?))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}
