//! The directory of a file to write, including parents created for it.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fsync, mkdirat, unlinkat};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::paths::safe_open::{self, LIST, LOOK};

/// An open directory. Parents created for it are removed on drop, unless kept.
pub(in crate::files) struct Parents<'a> {
    root: BorrowedFd<'a>,
    directory: OwnedFd,
    /// Directories newly created beneath the root, parents first.
    made: Vec<PathBuf>,
    is_kept: Cell<bool>,
}

impl<'a> Parents<'a> {
    pub(in crate::files) fn open(root: BorrowedFd<'a>, path: &Path) -> Result<Self> {
        let directory = safe_open::open(root, path, LIST)?;
        Ok(Self { root, directory, made: Vec::new(), is_kept: Cell::new(false) })
    }

    /// Creates the missing parts of `path`, plain names only, level by level, so that each directory is created in one
    /// reached without a link.
    pub(in crate::files) fn open_or_make(root: BorrowedFd<'a>, path: &Path) -> Result<Self> {
        match Self::open(root, path) {
            Err(Errno::NOENT) => {}
            opened => return opened,
        }
        let directory = safe_open::open(root, Path::new(""), LOOK | OFlags::DIRECTORY)?;
        let mut parents = Self { root, directory, made: Vec::new(), is_kept: Cell::new(false) };
        let mut reached = PathBuf::new();
        for name in path {
            reached.push(name);
            parents.directory = parents.enter(Path::new(name), &reached)?;
        }
        // So far opened only for lookup; locking and syncing need a real open.
        parents.directory = safe_open::open(parents.directory(), Path::new(""), LIST)?;
        Ok(parents)
    }

    /// Opens a directory in this one, which lies at `path`; creates it first if it is missing.
    fn enter(&mut self, name: &Path, path: &Path) -> Result<OwnedFd> {
        match safe_open::open(self.directory(), name, LOOK | OFlags::DIRECTORY) {
            Err(Errno::NOENT) => {}
            opened => return opened,
        }
        match mkdirat(&self.directory, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => self.made.push(path.to_owned()),
            // Someone else created it at the same time: theirs is as good.
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        safe_open::open(self.directory(), name, LOOK | OFlags::DIRECTORY)
    }

    pub(in crate::files) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Keeps the directories: nothing is removed from now on.
    pub(in crate::files) fn keep(&self) {
        self.is_kept.set(true);
    }

    /// Syncs the names in it, and the names of newly created directories, to disk.
    pub(in crate::files) fn sync(&self) -> Result<()> {
        retry_on_intr(|| fsync(&self.directory))?;
        self.made.iter().try_for_each(|made| {
            let around = self.open_around(made, LIST)?;
            retry_on_intr(|| fsync(&around))
        })
    }

    fn open_around(&self, made: &Path, flags: OFlags) -> Result<OwnedFd> {
        safe_open::open(self.root, made.parent().unwrap_or(Path::new("")), flags)
    }
}

impl Drop for Parents<'_> {
    fn drop(&mut self) {
        if self.is_kept.get() {
            return;
        }
        for made in self.made.iter().rev() {
            let (Ok(around), Some(name)) = (self.open_around(made, LOOK | OFlags::DIRECTORY), made.file_name()) else {
                continue;
            };
            // Fails, as it should, if someone has put something in it meanwhile.
            unlinkat(around, name, AtFlags::REMOVEDIR).ok();
        }
    }
}
