//! The names in one directory, as the directory gives them: unsorted, one at a time.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, statat};

use crate::error::AccessError;
use crate::kind::FileKind;

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub kind: FileKind,
}

/// An open directory. Reads as it is iterated, so that a directory of millions costs no more than what is taken.
pub struct Entries {
    directory: Dir,
    path: String,
}

impl Entries {
    pub(crate) fn new(directory: OwnedFd, path: &str) -> Result<Self, AccessError> {
        let directory = Dir::new(directory).map_err(|errno| AccessError::from_errno(path, errno))?;
        Ok(Self { directory, path: path.to_owned() })
    }

    fn kind(&self, name: &OsStr, file_type: FileType) -> FileKind {
        if file_type != FileType::Unknown {
            return file_type.into();
        }
        // Some file systems do not say in the listing what a name is.
        let stat = self.directory.fd().and_then(|directory| statat(directory, name, AtFlags::SYMLINK_NOFOLLOW));
        stat.map_or(FileKind::Unknown, |stat| FileType::from_raw_mode(stat.st_mode).into())
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, AccessError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.directory.read()? {
                Ok(entry) => entry,
                Err(errno) => return Some(Err(AccessError::from_errno(&self.path, errno))),
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                return Some(Ok(Entry { name: name.to_owned(), kind: self.kind(name, entry.file_type()) }));
            }
        }
    }
}
