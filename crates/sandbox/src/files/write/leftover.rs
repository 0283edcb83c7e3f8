//! Removes new versions that never took their place, because their writer was killed.
//!
//! A live writer holds the lock of the directory for as long as its new version has a temporary name. So a temporary
//! file found under that lock will never be finished. It is removed if nothing else speaks against that.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, unlinkat};

use crate::paths::safe_open::{self, READ};

const START: &str = ".sortie-write-";
const END: &str = ".tmp";

/// Younger files are left alone: machines that share a file system may not share its locks.
const LEAST_AGE: Duration = Duration::from_hours(1);
/// Number of entries to check. In a larger directory some leftovers may stay.
const MAX_ENTRIES: usize = 4096;

/// The name of a new version, made from a random number.
pub(super) fn name(random: u64) -> String {
    format!("{START}{random:016x}{END}")
}

/// True for a name that only new versions have.
pub(crate) fn is_name(name: &OsStr) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let number = name.as_bytes().strip_prefix(START.as_bytes()).and_then(|rest| rest.strip_suffix(END.as_bytes()));
    number.is_some_and(|number| number.len() == 16 && number.iter().all(is_digit))
}

/// Removes leftovers of this user's writers from a locked directory, as far as possible.
pub(super) fn remove(directory: BorrowedFd<'_>) {
    let Ok(entries) = Dir::read_from(directory) else { return };
    for entry in entries.take(MAX_ENTRIES).flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if is_name(name) && is_abandoned(directory, name).unwrap_or(false) {
            unlinkat(directory, name, AtFlags::empty()).ok();
        }
    }
}

fn is_abandoned(directory: BorrowedFd<'_>, name: &OsStr) -> std::io::Result<bool> {
    let found = File::from(safe_open::open(directory, Path::new(name), READ)?).metadata()?;
    let is_ours = found.is_file() && found.nlink() == 1 && found.uid() == rustix::process::geteuid().as_raw();
    Ok(is_ours && found.modified()?.elapsed().is_ok_and(|age| age >= LEAST_AGE))
}
