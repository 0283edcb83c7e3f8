//! Whether a file is still the one that was read.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::fs::FileType;

use crate::kind::FileKind;

/// What a file looked like at one moment. Two equal stamps: the same file, as far as its times and size can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub kind: FileKind,
    pub size: u64,
    device: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Whether both are the same file, whatever happened to its content.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self {
            kind: FileType::from_raw_mode(metadata.mode()).into(),
            size: metadata.size(),
            device: metadata.dev(),
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
