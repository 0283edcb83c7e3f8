//! A file with a known name, which is checked before use: somebody else may have put it there.

use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};

use crate::spill::error::SpillError;

/// A regular, private file of this user with a single name.
#[derive(Debug)]
pub(super) struct PrivateFile {
    pub(super) file: File,
    /// Its size when it was opened.
    pub(super) size: u64,
}

impl PrivateFile {
    /// Opens a file of this directory, whose name the caller vouches for; `path` is for errors. No link is followed,
    /// and a FIFO does not block. `None` if it is missing and not created.
    ///
    /// Anything but a regular, private file of this user with a single name is refused.
    pub(super) fn open(
        directory: BorrowedFd<'_>,
        name: &str,
        how: OFlags,
        path: PathBuf,
    ) -> Result<Option<Self>, SpillError> {
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match retry_on_intr(|| openat(directory, name, flags, Mode::RUSR | Mode::WUSR)) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(unusable(&path, "it is a link")),
            Err(errno) => return Err(SpillError::Reach { path, source: errno.into() }),
        };
        let found = match file.metadata() {
            Ok(found) => found,
            Err(source) => return Err(SpillError::Reach { path, source }),
        };
        if !found.is_file() {
            return Err(unusable(&path, "it is not a regular file"));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(unusable(&path, "it belongs to another user"));
        }
        if found.mode() & 0o077 != 0 || found.nlink() != 1 {
            return Err(unusable(&path, "others can reach it"));
        }
        Ok(Some(Self { file, size: found.len() }))
    }
}

/// True if a name consists only of characters allowed before our suffixes.
pub(super) fn is_harmless(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

pub(super) fn unusable(path: &Path, reason: &'static str) -> SpillError {
    SpillError::Unusable { path: path.to_owned(), reason }
}
