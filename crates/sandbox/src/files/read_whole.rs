//! Reads a whole file, together with a stamp that belongs to exactly the bytes read.

use std::fs::File;
use std::io::{self, Read as _};

use crate::files::open::{OpenFile, open_regular};
use crate::paths::{AccessError, GuardedRoots, MAX_ATTEMPTS, Stamp, shown};

/// Implements [`Workspace::read_whole`](crate::Workspace::read_whole).
pub(super) fn read_whole(inside: &GuardedRoots, path: &str, max_bytes: u64) -> Result<(Vec<u8>, Stamp), AccessError> {
    for _ in 0..MAX_ATTEMPTS {
        let OpenFile { file, stamp } = inside.attempt(path, |place| open_regular(path, place))?;
        match read_once(&file, stamp, max_bytes) {
            Ok(Once::Whole(bytes, stamp)) => return Ok((bytes, stamp)),
            Ok(Once::TooLarge(size)) => {
                return Err(AccessError::TooLarge { path: shown(path), size, max: max_bytes });
            }
            Ok(Once::Changed) => {}
            Err(source) => return Err(AccessError::Io { path: shown(path), source }),
        }
    }
    Err(AccessError::Unstable { path: shown(path) })
}

enum Once {
    Whole(Vec<u8>, Stamp),
    TooLarge(u64),
    Changed,
}

/// Reads a file that had the stamp `before` when it was opened.
fn read_once(file: &File, before: Stamp, max_bytes: u64) -> io::Result<Once> {
    let size = before.size;
    if size > max_bytes {
        return Ok(Once::TooLarge(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // For a file that reports size 0, one byte is requested: there must be none.
    file.take(size.max(1)).read_to_end(&mut bytes)?;
    let is_unchanged = before == Stamp::of(file)? && bytes.len() as u64 == size;
    Ok(if is_unchanged { Once::Whole(bytes, before) } else { Once::Changed })
}
