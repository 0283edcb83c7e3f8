//! The new version of a file, before it has the file's name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, linkat, openat, renameat, renameat_with, unlinkat};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::files::error::WriteError;
use crate::files::write::attempt_error::AttemptError;
use crate::files::write::leftover;
use crate::paths::shown;

/// A file with an unpredictable name. Removed on drop, unless it got another name.
pub(super) struct Temporary<'a> {
    directory: BorrowedFd<'a>,
    name: String,
    file: File,
    is_renamed: bool,
}

impl<'a> Temporary<'a> {
    /// Creates one for the file requested as `path`.
    pub(super) fn create(directory: BorrowedFd<'a>, mode: Mode, path: &str) -> std::result::Result<Self, AttemptError> {
        const MAX_ATTEMPTS: usize = 8;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut attempt = 1;
        loop {
            let random = getrandom::u64().map_err(|source| WriteError::Random { path: shown(path), source })?;
            let name = leftover::name(random);
            match retry_on_intr(|| openat(directory, &name, flags, mode)) {
                Ok(file) => return Ok(Self { directory, name, file: File::from(file), is_renamed: false }),
                Err(Errno::EXIST) if attempt < MAX_ATTEMPTS => attempt += 1,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn fill(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)
    }

    /// Takes a free name, or fails with [`Errno::EXIST`].
    pub(super) fn appear_as(&mut self, name: &OsStr) -> Result<()> {
        match renameat_with(self.directory, &self.name, self.directory, name, RenameFlags::NOREPLACE) {
            Ok(()) => self.is_renamed = true,
            // A file system without this kind of rename can still add a second name; the first is removed on drop.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(self.directory, &self.name, self.directory, name, AtFlags::empty())?;
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }

    /// Takes the name of another file, which loses it.
    pub(super) fn replace(&mut self, name: &OsStr) -> Result<()> {
        renameat(self.directory, &self.name, self.directory, name)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // If even this fails, its name shows what it is.
            unlinkat(self.directory, &self.name, AtFlags::empty()).ok();
        }
    }
}
