//! The caller of a told call: its memory, and the names by which the keeper reaches its files.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// A descriptor that stands for the working directory.
pub(super) const WORKING_DIRECTORY: u32 = libc::AT_FDCWD.cast_unsigned();

/// The name of a thread's descriptor, or of its working directory.
pub(super) fn named(thread: u32, descriptor: u64) -> String {
    if descriptor as u32 == WORKING_DIRECTORY {
        return format!("/proc/{thread}/cwd");
    }
    format!("/proc/{thread}/fd/{}", descriptor as u32)
}

/// A path that leads a thread to itself must not lead to the keeper.
pub(super) fn its_own(thread: u32, path: &Path) -> PathBuf {
    let devices = [("/dev/fd", "fd"), ("/dev/stdin", "fd/0"), ("/dev/stdout", "fd/1"), ("/dev/stderr", "fd/2")];
    let own = Path::new("/proc").join(thread.to_string());
    for place in ["/proc/self", "/proc/thread-self"] {
        if let Ok(rest) = path.strip_prefix(place) {
            return own.join(rest);
        }
    }
    let leads = devices.iter().find_map(|(device, place)| Some(own.join(place).join(path.strip_prefix(device).ok()?)));
    leads.map_or_else(|| path.to_owned(), |path| path.components().collect())
}

/// The path at an address in the caller's memory.
pub(super) fn path(thread: u32, address: u64) -> Result<PathBuf, Errno> {
    const LONGEST: usize = 4096;
    let memory = memory(thread)?;
    let mut bytes = [0; LONGEST];
    let mut filled = 0;
    while filled < LONGEST {
        // The next page may not be mapped.
        let next = address.wrapping_add(filled as u64);
        let left_of_page = LONGEST - next as usize % LONGEST;
        let end = LONGEST.min(filled + left_of_page);
        let Some(space) = bytes.get_mut(filled..end) else { break };
        memory.read_exact_at(space, next).map_err(|_| Errno::FAULT)?;
        if let Some(length) = space.iter().position(|byte| *byte == 0) {
            let found = bytes.get(..filled + length).unwrap_or_default();
            return Ok(PathBuf::from(OsStr::from_bytes(found)));
        }
        filled = end;
    }
    Err(Errno::NAMETOOLONG)
}

/// Numbers at an address in the caller's memory; `None` without an address.
pub(super) fn numbers<const N: usize>(thread: u32, address: u64) -> Result<Option<[i64; N]>, Errno> {
    if address == 0 {
        return Ok(None);
    }
    let memory = memory(thread)?;
    let mut numbers = [0; N];
    for (at, number) in (0..).zip(&mut numbers) {
        let mut bytes = [0; 8];
        memory.read_exact_at(&mut bytes, address.wrapping_add(8 * at)).map_err(|_| Errno::FAULT)?;
        *number = i64::from_ne_bytes(bytes);
    }
    Ok(Some(numbers))
}

fn memory(thread: u32) -> Result<File, Errno> {
    File::open(format!("/proc/{thread}/mem")).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::FAULT))
}
