//! The stamp of a file's version, which shows whether a file is still the one that was read.

use std::fs::File;
use std::io;

use rustix::fs::{FileType, Stat, fstat};

use crate::paths::file_kind::FileKind;

/// Identity, times and size of a file at one moment. Equal stamps mean the same version, as far as times and size can
/// tell.
///
/// They miss a write in place at that very moment: systems record the time first and then write the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub kind: FileKind,
    pub size: u64,
    // Wide enough for the integer types of all systems.
    device: i128,
    inode: i128,
    modified: Moment,
    changed: Moment,
}

/// Seconds, and nanoseconds of the next.
type Moment = (i128, i128);

impl Stamp {
    /// The current stamp of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(fstat(file)?))
    }

    /// This stamp, adjusted for a rename, after which the file had the stamp `after`. A change of content in between is
    /// not included, so the stamp then no longer matches the file.
    pub(crate) fn renamed(self, after: &Self) -> Self {
        Self { changed: after.changed, ..self }
    }

    /// True if both are the same file, whatever happened to its content.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        Self {
            kind: FileType::from_raw_mode(stat.st_mode).into(),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            device: stat.st_dev.into(),
            inode: stat.st_ino.into(),
            modified: (stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed: (stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }
}
