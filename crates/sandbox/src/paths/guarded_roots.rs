//! Roots together with the guards that are asked before anything in them is used.

use sortie_protocol::file_name::spelled;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::paths::error::{AccessError, WorkspaceError, shown};
use crate::paths::guard::{Access, Guard, Guards};
use crate::paths::resolve_path::{resolve_path, resolve_without_links};
use crate::paths::roots::{Place, Roots};
use crate::paths::safe_open::{self, LOOK};

/// Number of attempts when the tree changes between resolving a path and using it.
pub(crate) const MAX_ATTEMPTS: usize = 8;

/// The result of an open without following links: the kernel's error outside, the verdict on the opened file inside.
pub(crate) type Opened<T> = rustix::io::Result<Result<T, AccessError>>;

/// Roots, and the guards that must all agree before a place in them is used.
#[derive(Debug)]
pub(crate) struct GuardedRoots {
    pub(crate) roots: Arc<Roots>,
    pub(crate) guards: Guards,
}

impl GuardedRoots {
    pub(crate) fn open(workspace: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self { roots: Arc::new(Roots::new(workspace)?), guards: Guards::default() })
    }

    /// Adds `directories`.
    pub(crate) fn with_directories(self, directories: &[PathBuf]) -> Result<Self, WorkspaceError> {
        Ok(Self { roots: Arc::new(self.roots.with(directories)?), guards: self.guards })
    }

    /// Removes the added directories that are not among `added`.
    pub(crate) fn with_only(&self, added: &[PathBuf]) -> Self {
        Self { roots: Arc::new(self.roots.only(added)), guards: self.guards.clone() }
    }

    /// Adds a guard.
    pub(crate) fn guarded(&self, guard: Arc<dyn Guard>) -> Self {
        Self { roots: Arc::clone(&self.roots), guards: self.guards.and(guard) }
    }

    /// The place that `path` leads to, whether or not anything is there. No guard is asked.
    pub(crate) fn locate<'a>(&'a self, path: &str) -> Result<Place<'a>, AccessError> {
        resolve_path(&self.roots, path)
    }

    /// The place that `path` leads to, if it may be used.
    pub(crate) fn find<'a>(&'a self, path: &str, access: Access) -> Result<Place<'a>, AccessError> {
        let place = self.locate(path)?;
        self.guards.require(path, &place, access)?;
        Ok(place)
    }

    /// The place of plain names, `relative` to the workspace or absolute in an added directory, if it may be used.
    pub(crate) fn admitted<'a>(&'a self, relative: &'a Path, access: Access) -> Result<Place<'a>, AccessError> {
        let place = self.roots.place(relative)?;
        self.guards.require(&spelled(relative), &place, access)?;
        Ok(place)
    }

    /// Opens the target of `path` with `open`, which must not follow links. Tries the path as if it had no links, then
    /// resolves them by hand. Starts over if something on the way has become a link meanwhile.
    pub(crate) fn attempt<T>(&self, path: &str, open: impl Fn(&Place<'_>) -> Opened<T>) -> Result<T, AccessError> {
        // A path refused in its literal form may still lead to something else.
        let literal = resolve_without_links(&self.roots, path).filter(|place| self.guards.admit(place, Access::Read));
        if let Some(place) = literal
            && let Some(settled) = settle(path, &place, open(&place))
        {
            return settled;
        }
        for _ in 0..MAX_ATTEMPTS {
            let place = self.find(path, Access::Read)?;
            if let Some(settled) = settle(path, &place, open(&place)) {
                return settled;
            }
        }
        Err(AccessError::Unstable { path: shown(path) })
    }
}

/// The result for the caller; `None` if the open met a link.
fn settle<T>(path: &str, place: &Place<'_>, opened: Opened<T>) -> Option<Result<T, AccessError>> {
    match opened {
        Ok(result) => Some(result),
        Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => None,
        Err(Errno::NOENT) => Some(Err(AccessError::NotFound { path: shown(path), nearest: nearest_directory(place) })),
        Err(errno) => Some(Err(AccessError::from_errno(path, errno))),
    }
}

/// The name of the closest ancestor that is a directory: `.` for the root.
fn nearest_directory(place: &Place<'_>) -> PathBuf {
    let is_directory =
        |ancestor: &&Path| safe_open::open(place.root.directory(), ancestor, LOOK | OFlags::DIRECTORY).is_ok();
    let nearest = place.beneath.ancestors().skip(1).find(is_directory).unwrap_or(Path::new(""));
    let name = Place { root: place.root, beneath: nearest.into() }.name().into_owned();
    if name.as_os_str().is_empty() { PathBuf::from(".") } else { name }
}
