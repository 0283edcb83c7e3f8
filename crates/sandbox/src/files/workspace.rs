//! The workspace: access to the files in its pinned directories.

use sortie_protocol::file_name::spelled;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::fstat;

use crate::files::entries::Entries;
use crate::files::error::WriteError;
use crate::files::make_directory::make_directory;
use crate::files::move_out::move_out;
use crate::files::open::{open_regular, open_unseen};
use crate::files::read_whole::read_whole;
use crate::files::write::{Expected, Terms, Written, write};
use crate::paths::safe_open::{self, LIST, LOOK};
use crate::paths::{Access, AccessError, FileKind, Guard, GuardedRoots, Stamp, WorkspaceError};
use crate::spill::SpillDir;

/// A directory tree that cannot be left.
///
/// The root is pinned as an open directory: later changes to its name do not redirect any access. More directories can
/// be added; paths in them are absolute, all others are relative to the root.
#[derive(Debug)]
pub struct Workspace {
    inside: GuardedRoots,
}

/// The resolved target of a path inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Relative to the root, absolute in an added directory; links and `..` resolved; empty for the root itself.
    pub relative: PathBuf,
    pub kind: FileKind,
}

impl Workspace {
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self { inside: GuardedRoots::open(root)? })
    }

    /// Adds directories, which need not lie in the workspace. Relative paths to them are relative to the process's
    /// working directory. A directory inside the workspace, or inside another one, adds nothing.
    pub fn with_directories(self, directories: &[PathBuf]) -> Result<Self, WorkspaceError> {
        Ok(Self { inside: self.inside.with_directories(directories)? })
    }

    /// Removes the added directories that are not among these canonical paths.
    #[must_use]
    pub fn with_only(&self, added: &[PathBuf]) -> Self {
        Self { inside: self.inside.with_only(added) }
    }

    /// Adds a guard that is asked before every use. Existing guards stay: all must agree. Costs next to nothing.
    #[must_use]
    pub fn guarded(&self, guard: Arc<dyn Guard>) -> Self {
        Self { inside: self.inside.guarded(guard) }
    }

    /// The canonical path of the root.
    pub fn root(&self) -> &Path {
        &self.inside.roots.workspace().path
    }

    /// The canonical paths of the added directories.
    pub fn added(&self) -> impl Iterator<Item = &Path> {
        self.inside.roots.added()
    }

    /// Returns where `path` leads, whether or not anything is there: relative to the root, absolute in an added
    /// directory.
    ///
    /// Asks no guard, because the result is the input to that decision.
    pub fn locate(&self, path: &str) -> Result<PathBuf, AccessError> {
        Ok(self.inside.locate(path)?.name().into_owned())
    }

    /// Resolves `path` to its target and kind. Absolute or relative to the root, in any spelling.
    pub fn resolve(&self, path: &str) -> Result<Resolved, AccessError> {
        self.inside.attempt(path, |place| {
            let kind = safe_open::kind_of(&safe_open::open(place.root.directory(), &place.beneath, LOOK)?)?;
            Ok(Ok(Resolved { relative: place.name().into_owned(), kind: kind.into() }))
        })
    }

    /// The current stamp of the file at `path`. The file is not opened for reading.
    pub fn stamp(&self, path: &str) -> Result<Stamp, AccessError> {
        self.inside.attempt(path, |place| {
            Ok(Ok(Stamp::from(fstat(safe_open::open(place.root.directory(), &place.beneath, LOOK)?)?)))
        })
    }

    /// Opens a regular file for reading. Anything else is an error at once; no byte of it is consumed.
    pub fn open_file(&self, path: &str) -> Result<File, AccessError> {
        Ok(self.inside.attempt(path, |place| open_regular(path, place))?.file)
    }

    /// Opens a regular file found by a walk: `relative` to the root, or absolute in an added directory, plain names
    /// only. A link is refused, not followed.
    pub fn open_relative(&self, relative: &Path) -> Result<File, AccessError> {
        let path = spelled(relative);
        let place = self.inside.admitted(relative, Access::Read)?;
        let opened = open_regular(&path, &place).map_err(|errno| AccessError::from_errno(&path, errno))?;
        Ok(opened?.file)
    }

    /// Opens a regular file just found in a listing. Like [`open_relative`](Self::open_relative), but checks the file
    /// only once it is open, which saves a search through many files half of its opens. Anything that has taken the
    /// file's place since the listing is still refused.
    pub fn open_listed(&self, relative: &Path) -> Result<File, AccessError> {
        let path = spelled(relative);
        let place = self.inside.admitted(relative, Access::Read)?;
        let opened = open_unseen(&path, &place).map_err(|errno| AccessError::from_errno(&path, errno))?;
        Ok(opened?.file)
    }

    /// Lists a directory found by [`resolve`](Self::resolve) or by a walk: `relative` to the root, or absolute in an
    /// added directory, plain names only.
    pub fn read_dir(&self, relative: &Path) -> Result<Entries, AccessError> {
        let path = spelled(relative);
        let place = self.inside.admitted(relative, Access::Read)?;
        let directory = safe_open::open(place.root.directory(), &place.beneath, LIST);
        Entries::new(directory.map_err(|errno| AccessError::from_errno(&path, errno))?, &place, &self.inside.guards)
    }

    /// The bytes of a regular file, and its stamp at that moment; more than `max_bytes` are an error.
    ///
    /// A file that changes while it is read is read again. If it keeps changing, or its size is wrong, as with files
    /// generated by the kernel, the result is [`AccessError::Unstable`].
    pub fn read_whole(&self, path: &str, max_bytes: u64) -> Result<(Vec<u8>, Stamp), AccessError> {
        read_whole(&self.inside, path, max_bytes)
    }

    /// Creates the file at `path`, or replaces it, if it is as `expected`. It is on disk when this returns.
    ///
    /// Missing directories are created, and removed again if the write then fails. A new file gets the usual mode of
    /// new files of this process. A new version keeps owner, group, access mode, access list and the user's extended
    /// attributes, or is not written. Set-user-id, set-group-id and sticky bits and file capabilities are dropped. A
    /// file that this user may not write is refused, although a rename could replace it; root may write every file.
    ///
    /// Writers in one directory wait for each other, in all processes that write through this crate. A change by
    /// another program in the instant between the last check and the rename goes unnoticed. Where directories cannot be
    /// locked, as on NFS, only the writers of this process wait for each other.
    pub fn write(&self, path: &str, content: &[u8], expected: Expected) -> Result<Written, WriteError> {
        self.write_unless(path, content, expected, &|| false)
    }

    /// Like [`write`](Self::write), for a caller that may have to stop. Calls `is_stopped` while it waits for others,
    /// and for the last time right before the new version takes its place. If true, returns [`WriteError::Stopped`],
    /// and nothing is left of the new version.
    pub fn write_unless(
        &self,
        path: &str,
        content: &[u8],
        expected: Expected,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Written, WriteError> {
        write(&self.inside, path, content, Terms { expected, is_stopped })
    }

    /// Creates a directory and its missing parents, without passing through a link. An existing directory is fine.
    /// `relative` to the root, or absolute in an added directory, plain names only.
    pub fn make_directory(&self, relative: &Path) -> Result<(), WriteError> {
        make_directory(&self.inside, relative)
    }

    /// Moves a file or a link found by a walk out of the workspace, and returns its new path. `relative` to the root,
    /// or absolute in an added directory, plain names only. No link is followed, and no directory is moved.
    ///
    /// The file keeps its mode, and its name is part of the new one. If it cannot be moved as it is, the first 16 MiB
    /// of a file are kept, or the target of a link.
    pub fn take_away(&self, relative: &Path, spill: &SpillDir) -> Result<PathBuf, WriteError> {
        move_out(&self.inside, relative, spill)
    }
}
