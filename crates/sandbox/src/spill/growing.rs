//! A file that grows while its owner works, for people to look into meanwhile. It is bounded, and its name is known.
//!
//! Nothing here is synced to disk: it is a display, and no record.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;

use super::SpillDir;
use super::known::{is_harmless, unusable};
use crate::error::SpillError;

/// Behind the name that was asked for.
pub(super) const ENDING: &str = ".log";

/// What the file takes, and what a text at the end may take on top of it.
const MAX_BYTES: u64 = 1 << 20;
const MAX_LAST_BYTES: u64 = 64 << 10;

const FULL: &str = "\n[… this file is full; all but the end is left out from here on]\n";
const CUT: &str = "\n[… the rest is left out]\n";

/// A file of mode 0600 to which texts are added. What no longer fits is left out, which the file says once.
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

impl SpillDir {
    /// Opens the file of this name to add to it, or makes it. `name` must be made of ASCII letters, digits, `-` and `_`.
    /// What stands there and is not an own, private and ordinary file is refused, and so is a link.
    pub fn growing(&self, name: &str) -> Result<GrowingFile, SpillError> {
        let gone = || unusable(&self.path.join(format!("{name}{ENDING}")), "its directory is gone");
        self.open_growing(name, OFlags::CREATE)?.ok_or_else(gone)
    }

    /// The same, if there is such a file already.
    pub fn grown(&self, name: &str) -> Result<Option<GrowingFile>, SpillError> {
        self.open_growing(name, OFlags::empty())
    }

    fn open_growing(&self, name: &str, how: OFlags) -> Result<Option<GrowingFile>, SpillError> {
        let file_name = format!("{name}{ENDING}");
        let path = self.path.join(&file_name);
        if !is_harmless(name) {
            return Err(unusable(&path, "that is no name for it"));
        }
        let opened = self.open_known(&file_name, OFlags::WRONLY | OFlags::APPEND | how)?;
        Ok(opened.map(|(file, found)| GrowingFile { path, growth: Mutex::new(Growth { file, size: found.len() }) }))
    }
}

impl GrowingFile {
    /// Absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a text, or as much of it as fits.
    pub fn append(&self, text: &str) -> Result<(), SpillError> {
        self.add(text, MAX_BYTES, FULL)
    }

    /// Adds a text with which its owner ends. There is room for it that no other text can take.
    pub fn append_last(&self, text: &str) -> Result<(), SpillError> {
        self.add(text, MAX_BYTES + MAX_LAST_BYTES, CUT)
    }

    /// Adds what fits into `most` bytes, and a mark where that is not all. A file beyond `most` has its mark already.
    fn add(&self, text: &str, most: u64, cut: &str) -> Result<(), SpillError> {
        let mut growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(room) = most.checked_sub(growth.size) else { return Ok(()) };
        let kept = &text[..text.floor_char_boundary(usize::try_from(room).unwrap_or(usize::MAX))];
        let fills = growth.size <= MAX_BYTES && growth.size + kept.len() as u64 > MAX_BYTES;
        let mark = match kept.len() < text.len() {
            true => cut,
            // Should its owner go on after all, nothing more than another end has room.
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
