//! The workspace: pinned directories, and every look at what lies in them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, OFlags, fstat, statat};
use rustix::io::Errno;
use sortie_mutant::is_out;

use crate::beneath::{self, LIST, LOOK, READ};
use crate::entries::Entries;
use crate::error::{AccessError, WorkspaceError, shown};
use crate::follow::{follow, taken_literally};
use crate::guard::{Access, Guard, Guards};
use crate::kind::FileKind;
use crate::roots::{Place, Roots};
use crate::stamp::Stamp;

/// How often an access starts anew because the tree changed between finding out where a path leads and using it.
pub(crate) const MAX_ATTEMPTS: usize = 8;

/// What came of an open without following links: what the kernel said, or else what that was worth.
type Opened<T> = rustix::io::Result<Result<T, AccessError>>;

/// A directory tree that cannot be left.
///
/// The root is pinned as an open directory: what happens to its name afterwards does not redirect any access. Further
/// directories can be added; what is beneath them is named by absolute paths, everything else relative to the root.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) roots: Arc<Roots>,
    pub(crate) guards: Guards,
}

/// Where a path leads, inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Relative to the root, absolute in an added directory; links and `..` worked out; empty for the root itself.
    pub relative: PathBuf,
    pub kind: FileKind,
}

impl Workspace {
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self { roots: Arc::new(Roots::new(root)?), guards: Guards::default() })
    }

    /// The same workspace with further directories, which need not lie in it. Relative paths to them are relative to the
    /// process's working directory. One that lies in the workspace, or in another, adds nothing.
    pub fn with_directories(self, directories: &[PathBuf]) -> Result<Self, WorkspaceError> {
        Ok(Self { roots: Arc::new(self.roots.and(directories)?), guards: self.guards })
    }

    /// The same workspace without the added directories that are not among these canonical paths.
    #[must_use]
    pub fn with_only(&self, added: &[PathBuf]) -> Self {
        Self { roots: Arc::new(self.roots.only(added)), guards: self.guards.clone() }
    }

    /// The same workspace, where `guard` is asked before anything is used. Guards that it has already stay: all must
    /// agree. Costs next to nothing.
    #[must_use]
    pub fn guarded(&self, guard: Arc<dyn Guard>) -> Self {
        Self { roots: Arc::clone(&self.roots), guards: self.guards.and(guard) }
    }

    /// The canonical path of the root.
    pub fn root(&self) -> &Path {
        &self.roots.workspace().path
    }

    /// The canonical paths of the directories that were added.
    pub fn added(&self) -> impl Iterator<Item = &Path> {
        self.roots.added()
    }

    /// Where `path` leads, whether or not anything is there: relative to the root, absolute in an added directory.
    ///
    /// No guard is asked, because this is what a verdict is given on.
    pub fn locate(&self, path: &str) -> Result<PathBuf, AccessError> {
        Ok(follow(&self.roots, path)?.name().into_owned())
    }

    /// Where `path` leads and what is there. Absolute or relative to the root, in any spelling.
    pub fn resolve(&self, path: &str) -> Result<Resolved, AccessError> {
        self.attempt(path, |place| {
            let kind = beneath::kind_of(&beneath::open(place.root.directory(), &place.beneath, LOOK)?)?;
            Ok(Ok(Resolved { relative: place.name().into_owned(), kind: kind.into() }))
        })
    }

    /// What the file at `path` looks like now. Nothing is opened for real.
    pub fn stamp(&self, path: &str) -> Result<Stamp, AccessError> {
        self.attempt(path, |place| {
            Ok(Ok(Stamp::from(fstat(beneath::open(place.root.directory(), &place.beneath, LOOK)?)?)))
        })
    }

    /// Opens a regular file for reading. Anything else is an error at once; no byte of it is consumed.
    pub fn open_file(&self, path: &str) -> Result<File, AccessError> {
        self.open_stamped(path).map(|(file, _)| file)
    }

    pub(crate) fn open_stamped(&self, path: &str) -> Result<(File, Stamp), AccessError> {
        self.attempt(path, |place| open_regular(path, place))
    }

    /// Opens a regular file found by a walk: `relative` to the root, or absolute in an added directory, plain names only.
    /// A link is refused, not followed.
    pub fn open_relative(&self, relative: &Path) -> Result<File, AccessError> {
        let path = relative.to_string_lossy();
        let place = self.admitted(&path, relative)?;
        let opened = open_regular(&path, &place).map_err(|errno| AccessError::from_errno(&path, errno))?;
        opened.map(|(file, _)| file)
    }

    /// Opens a regular file that a listing has just named as one: as [`open_relative`](Self::open_relative), but it
    /// looks at the file only once it is open, which saves a search through many files half of its opens. What has taken
    /// the file's place since the listing is refused all the same.
    pub fn open_listed(&self, relative: &Path) -> Result<File, AccessError> {
        let path = relative.to_string_lossy();
        let place = self.admitted(&path, relative)?;
        let opened = open_unseen(&path, &place).map_err(|errno| AccessError::from_errno(&path, errno))?;
        opened.map(|(file, _)| file)
    }

    /// Lists a directory found by [`resolve`](Self::resolve) or by a walk: `relative` to the root, or absolute in an
    /// added directory, plain names only.
    pub fn read_dir(&self, relative: &Path) -> Result<Entries, AccessError> {
        let path = relative.to_string_lossy();
        let place = self.admitted(&path, relative)?;
        let directory = beneath::open(place.root.directory(), &place.beneath, LIST);
        Entries::new(directory.map_err(|errno| AccessError::from_errno(&path, errno))?, &place, &self.guards)
    }

    fn admitted<'a>(&'a self, path: &str, relative: &'a Path) -> Result<Place<'a>, AccessError> {
        let place = self.roots.place(relative)?;
        self.guards.require(path, &place, Access::Read)?;
        Ok(place)
    }

    /// Opens where `path` leads, which `open` must do without following a link: first as if it passed none, then followed
    /// by hand; anew, if something on the way has become a link in the meantime.
    fn attempt<T>(&self, path: &str, open: impl Fn(&Place<'_>) -> Opened<T>) -> Result<T, AccessError> {
        // Where a guard refuses the path as it is written, it may still lead to something else.
        let literal = taken_literally(&self.roots, path).filter(|place| self.guards.admit(place, Access::Read));
        if let Some(place) = literal
            && let Some(settled) = settle(path, &place, open(&place))
        {
            return settled;
        }
        for _ in 0..MAX_ATTEMPTS {
            let place = follow(&self.roots, path)?;
            self.guards.require(path, &place, Access::Read)?;
            if let Some(settled) = settle(path, &place, open(&place)) {
                return settled;
            }
        }
        Err(AccessError::Unstable { path: shown(path) })
    }
}

/// What an open means for who asked for `path`; nothing, if it met a link.
fn settle<T>(path: &str, place: &Place<'_>, opened: Opened<T>) -> Option<Result<T, AccessError>> {
    match opened {
        Ok(result) => Some(result),
        Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => None,
        Err(Errno::NOENT) => Some(Err(AccessError::NotFound { path: shown(path), nearest: nearest_directory(place) })),
        Err(errno) => Some(Err(AccessError::from_errno(path, errno))),
    }
}

fn open_regular(path: &str, place: &Place<'_>) -> Opened<(File, Stamp)> {
    // Looked at first, because opening a device can already have an effect; looked at again once open, because the name
    // may have come to mean something else in between. The first look may pass through a link, so it decides nothing
    // but whether to look properly.
    let directory = place.root.directory();
    let glance = statat(directory, &*place.beneath, AtFlags::SYMLINK_NOFOLLOW);
    if !glance.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile) {
        let kind = beneath::kind_of(&beneath::open(directory, &place.beneath, LOOK)?)?.into();
        if kind != FileKind::File && !is_out("regular-files") {
            return Ok(Err(not_regular(path, kind)));
        }
    }
    match open_unseen(path, place) {
        Err(Errno::NOENT) => Ok(Err(AccessError::Vanished { path: shown(path) })),
        opened => opened,
    }
}

fn open_unseen(path: &str, place: &Place<'_>) -> Opened<(File, Stamp)> {
    let file = beneath::open(place.root.directory(), &place.beneath, READ)?;
    let stamp = Stamp::from(fstat(&file)?);
    if stamp.kind != FileKind::File && !is_out("regular-files") {
        return Ok(Err(not_regular(path, stamp.kind)));
    }
    Ok(Ok((File::from(file), stamp)))
}

/// The closest ancestor that is a directory, by its name: `.` for the root.
fn nearest_directory(place: &Place<'_>) -> PathBuf {
    let is_directory =
        |ancestor: &&Path| beneath::open(place.root.directory(), ancestor, LOOK | OFlags::DIRECTORY).is_ok();
    let nearest = place.beneath.ancestors().skip(1).find(is_directory).unwrap_or(Path::new(""));
    let name = Place { root: place.root, beneath: nearest.into() }.name().into_owned();
    if name.as_os_str().is_empty() { PathBuf::from(".") } else { name }
}

fn not_regular(path: &str, kind: FileKind) -> AccessError {
    match kind {
        FileKind::Directory => AccessError::IsDirectory { path: shown(path) },
        kind => AccessError::NotRegular { path: shown(path), kind },
    }
}
