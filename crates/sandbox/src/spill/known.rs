//! What a file of a known name must be before it is used: somebody else may have put it there.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::SpillDir;
use crate::error::SpillError;

/// What may stand in a name, beside an ending of ours.
pub(super) fn is_harmless(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl SpillDir {
    /// Opens a file of this directory, whose name the caller vouches for. No link is followed, and nobody waits for the
    /// other end of a pipe. `None` where there is none and none is made.
    ///
    /// What is not an own, private and ordinary file of one name is refused.
    pub(super) fn open_known(&self, name: &str, how: OFlags) -> Result<Option<(File, Metadata)>, SpillError> {
        let path = self.path.join(name);
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(unusable(&path, "it is a link")),
            Err(errno) => return Err(SpillError::Reach { path, source: errno.into() }),
        };
        let found = file.metadata().map_err(|source| SpillError::Reach { path: path.clone(), source })?;
        if !found.is_file() {
            return Err(unusable(&path, "it is no ordinary file"));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(unusable(&path, "it belongs to another user"));
        }
        if found.mode() & 0o077 != 0 || found.nlink() != 1 {
            return Err(unusable(&path, "others can reach it"));
        }
        Ok(Some((file, found)))
    }
}

pub(super) fn unusable(path: &Path, reason: &'static str) -> SpillError {
    SpillError::Unusable { path: path.to_owned(), reason }
}
