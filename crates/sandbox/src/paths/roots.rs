//! Roots: the workspace and the directories added to it, each pinned once.
//!
//! A place in the workspace is named relative to it, one in an added directory by its absolute path. If directories
//! contain each other, a place belongs to the first that contains it, so that it has one name.

use sortie_protocol::file_name::spelled;
use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::retry_on_intr;
use sortie_mutant::is_out;

use crate::paths::error::{AccessError, WorkspaceError, shown};
use crate::paths::safe_open::LOOK;

/// A directory, pinned when it was opened: later changes to its name do not redirect any access.
#[derive(Debug)]
pub(crate) struct Root {
    /// Canonical.
    pub(crate) path: PathBuf,
    directory: OwnedFd,
    is_workspace: bool,
}

/// The workspace first, then the added directories.
#[derive(Debug)]
pub(crate) struct Roots(Vec<Arc<Root>>);

/// An existing or possible path beneath a root.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Root,
    /// Plain names only: no link, no `..`; empty for the root itself.
    pub(crate) beneath: Cow<'a, Path>,
}

impl Root {
    fn open(path: &Path, is_workspace: bool) -> Result<Self, WorkspaceError> {
        let fail = |source: io::Error| WorkspaceError::new(path, source);
        let canonical = path.canonicalize().map_err(fail)?;
        let flags = LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory =
            retry_on_intr(|| openat(CWD, &canonical, flags, Mode::empty())).map_err(|errno| fail(errno.into()))?;
        Ok(Self { path: canonical, directory, is_workspace })
    }

    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl Roots {
    pub(crate) fn new(workspace: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self(vec![Arc::new(Root::open(workspace, true)?)]))
    }

    /// Adds `directories`. A directory inside another adds nothing.
    pub(crate) fn with(&self, directories: &[PathBuf]) -> Result<Self, WorkspaceError> {
        let mut roots = Self(self.0.clone());
        for directory in directories {
            let added = Root::open(directory, false)?;
            if roots.holding(&added.path).is_none() {
                roots.0.push(Arc::new(added));
            }
        }
        Ok(roots)
    }

    /// Removes the added directories that are not among these.
    pub(crate) fn only(&self, added: &[PathBuf]) -> Self {
        let stays = |root: &&Arc<Root>| root.is_workspace || added.contains(&root.path);
        Self(self.0.iter().filter(stays).cloned().collect())
    }

    pub(crate) fn workspace(&self) -> &Root {
        &self.0[0]
    }

    pub(crate) fn added(&self) -> impl Iterator<Item = &Path> {
        self.0[1..].iter().map(|root| root.path.as_path())
    }

    /// The root that contains an absolute path, and the path beneath it.
    pub(crate) fn holding<'r, 'p>(&'r self, absolute: &'p Path) -> Option<(&'r Root, &'p Path)> {
        self.0.iter().find_map(|root| Some((&**root, beneath(&root.path, absolute)?)))
    }

    /// The error for a path that leads to none of them.
    pub(super) fn outside(&self, path: &str) -> AccessError {
        let added = self.added().map(Path::to_owned).collect();
        AccessError::Outside { path: shown(path), root: self.workspace().path.clone(), added }
    }

    /// The place of a name from [`Place::name`], possibly extended by plain names.
    pub(crate) fn place<'a>(&'a self, name: &'a Path) -> Result<Place<'a>, AccessError> {
        let (root, beneath) = if name.is_absolute() {
            self.holding(name).ok_or_else(|| self.outside(&spelled(name)))?
        } else {
            (self.workspace(), name)
        };
        if beneath.components().all(|component| matches!(component, Component::Normal(_))) {
            Ok(Place { root, beneath: Cow::Borrowed(beneath) })
        } else {
            Err(AccessError::invalid(&spelled(name), "only plain names are allowed here"))
        }
    }
}

/// The part of a path beneath a directory. Names are compared whole: a neighbour whose name merely starts the same does
/// not match.
fn beneath<'p>(directory: &Path, path: &'p Path) -> Option<&'p Path> {
    if is_out("path-components") {
        return Some(Path::new(path.to_str()?.strip_prefix(directory.to_str()?)?.trim_start_matches('/')));
    }
    path.strip_prefix(directory).ok()
}

impl Place<'_> {
    /// Relative in the workspace, absolute in an added directory.
    pub(crate) fn name(&self) -> Cow<'_, Path> {
        if self.root.is_workspace {
            Cow::Borrowed(&self.beneath)
        } else if self.beneath.as_os_str().is_empty() {
            Cow::Borrowed(&self.root.path)
        } else {
            Cow::Owned(self.root.path.join(&self.beneath))
        }
    }
}
