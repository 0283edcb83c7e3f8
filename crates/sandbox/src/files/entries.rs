//! The entries of one directory, unsorted, one at a time.
//!
//! An entry that may not be read is replaced by a refusal without its name, so that the caller can count them.

use sortie_protocol::file_name::spelled;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Dir, FileType, statat};

use crate::files::write::leftover;
use crate::paths::{Access, AccessError, FileKind, Guards, Place, Stamp, shown};

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub kind: FileKind,
}

impl Entry {
    /// True for the temporary file of a write in progress, or one left behind by a killed writer: nobody's file.
    pub fn is_unfinished(&self) -> bool {
        self.kind == FileKind::File && leftover::is_name(&self.name)
    }
}

/// An open directory. Reads as it is iterated, so that a directory of millions costs no more than the part that is
/// read.
///
/// An [`AccessError::Refused`] is one entry that must stay hidden: it names the directory, and more entries may follow.
/// Any other error is the last item.
pub struct Entries {
    directory: Dir,
    path: String,
    hiding: Option<Hiding>,
}

/// Decides about the entries of a guarded directory.
struct Hiding {
    guards: Guards,
    /// The directory's name, as guards know it.
    name: PathBuf,
}

impl Entries {
    pub(crate) fn new(directory: OwnedFd, place: &Place<'_>, guards: &Guards) -> Result<Self, AccessError> {
        let name = place.name();
        let path = spelled(&*name);
        let directory = Dir::new(directory).map_err(|errno| AccessError::from_errno(&path, errno))?;
        let hiding = (!guards.is_empty()).then(|| Hiding { guards: guards.clone(), name: name.into_owned() });
        Ok(Self { directory, path, hiding })
    }

    /// Current stamp of this entry, without following a link; `None` if it is gone.
    pub fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let stat = self.directory.fd().and_then(|directory| statat(directory, name, AtFlags::SYMLINK_NOFOLLOW));
        stat.ok().map(Stamp::from)
    }

    fn entry(&self, name: &OsStr, file_type: FileType) -> Result<Entry, AccessError> {
        if let Some(Hiding { guards, name: directory }) = &self.hiding {
            let refused = |_| AccessError::Refused { path: shown(&self.path), reason: "an entry is hidden".to_owned() };
            guards.check(&directory.join(name), Access::Read).map_err(refused)?;
        }
        Ok(Entry { name: name.to_owned(), kind: self.kind(name, file_type) })
    }

    fn kind(&self, name: &OsStr, file_type: FileType) -> FileKind {
        if file_type != FileType::Unknown {
            return file_type.into();
        }
        // Some file systems do not include file types in listings.
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
                return Some(self.entry(name, entry.file_type()));
            }
        }
    }
}
