//! The stamp of a file's version, which tells whether a file is still the one that was read.

use std::fs::File;
use std::io;

use rustix::fs::{FileType, Stat, fstat};

use crate::paths::file_kind::FileKind;

/// What a file looked like at one moment. Two equal stamps: the same file, as far as its times and size can tell.
///
/// They cannot tell when someone writes in place at that very moment: systems note the time first and then the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub kind: FileKind,
    pub size: u64,
    // As wide as holds what any system counts in.
    device: i128,
    inode: i128,
    modified: Moment,
    changed: Moment,
}

/// Seconds, and nanoseconds of the next.
type Moment = (i128, i128);

impl Stamp {
    /// What an open file looks like now.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(fstat(file)?))
    }

    /// This stamp, of a file that has since been renamed and then looked like `after`. A change of its content in
    /// between is not taken in, so that the stamp no longer fits such a file.
    pub(crate) fn renamed(self, after: &Self) -> Self {
        Self { changed: after.changed, ..self }
    }

    /// Whether both are the same file, whatever happened to its content.
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
