//! A file that grows while its owner works, for people to look into meanwhile. Its size is limited, and its name is
//! known.
//!
//! Nothing here is synced to disk: it is for display, not a record.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::spill::error::SpillError;
use crate::spill::private_file::PrivateFile;

/// Appended to the requested name.
pub(super) const ENDING: &str = ".log";

/// Size limit, and extra room for a final text.
const MAX_BYTES: u64 = 1 << 20;
const MAX_LAST_BYTES: u64 = 64 << 10;

const FULL: &str = "\n[… this file is full; all but the end is left out from here on]\n";
const CUT: &str = "\n[… the rest is left out]\n";

/// A file of mode 0600 to which texts are appended. Text that no longer fits is left out, which the file notes once.
#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    growth: Mutex<Growth>,
}

#[derive(Debug)]
struct Growth {
    file: File,
    size: u64,
}

impl GrowingFile {
    pub(super) fn new(path: PathBuf, found: PrivateFile) -> Self {
        Self { path, growth: Mutex::new(Growth { file: found.file, size: found.size }) }
    }

    /// Absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a text, or as much of it as fits.
    pub fn append(&self, text: &str) -> Result<(), SpillError> {
        self.add(text, MAX_BYTES, FULL)
    }

    /// Appends the owner's final text. It has reserved room that no other text can take.
    pub fn append_last(&self, text: &str) -> Result<(), SpillError> {
        self.add(text, MAX_BYTES + MAX_LAST_BYTES, CUT)
    }

    /// Appends what fits into `most` bytes, and a mark if that is not all. A file beyond `most` already has its mark.
    fn add(&self, text: &str, most: u64, cut: &str) -> Result<(), SpillError> {
        let mut growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(room) = most.checked_sub(growth.size) else { return Ok(()) };
        let kept = &text[..text.floor_char_boundary(usize::try_from(room).unwrap_or(usize::MAX))];
        let fills = growth.size <= MAX_BYTES && growth.size + kept.len() as u64 > MAX_BYTES;
        let mark = match kept.len() < text.len() {
            true => cut,
            // If its owner continues after all, only another final text has room.
            false if fills => FULL,
            false => "",
        };
        let added = [kept, mark].concat();
        let fail = |source| SpillError::Write { path: self.path.clone(), source };
        growth.file.write_all(added.as_bytes()).map_err(fail)?;
        growth.size += added.len() as u64;
        Ok(())
    }
}
