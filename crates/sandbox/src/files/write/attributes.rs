//! Copies owner, group, mode, access list and attributes of a file to its new version.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use crate::files::error::WriteError;
use crate::paths::shown;

/// The access list on Linux. Where there is one, the mode's group bits mean something else.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// Attributes that the system assigns by its own rules: labels, capabilities.
const OF_THE_SYSTEM: [&str; 2] = ["security.", "trusted."];

/// Copies everything from `old` to `new`, or fails: no one may gain or lose access to the file by a replacement.
pub(super) fn keep(old: &File, new: &File, path: &str) -> Result<(), WriteError> {
    let unkept = |what: String, source: io::Error| WriteError::Unkept { path: shown(path), what, source };
    let metadata = |file: &File| file.metadata().map_err(|source| WriteError::Io { path: shown(path), source });
    let (was, is) = (metadata(old)?, metadata(new)?);
    if (was.uid(), was.gid()) != (is.uid(), is.gid()) {
        let owner = || format!("its owner (user {}, group {})", was.uid(), was.gid());
        fchown(new, Some(was.uid()), Some(was.gid())).map_err(|source| unkept(owner(), source))?;
    }
    keep_extended(old, new).map_err(|(name, errno)| unkept(format!("its attribute {name}"), errno.into()))?;
    // Without the bits that would lend the owner's rights to content that the owner has never seen.
    let mode = was.mode() & 0o777;
    new.set_permissions(Permissions::from_mode(mode)).map_err(|source| unkept(format!("its mode {mode:o}"), source))
}

/// The error names the attribute.
fn keep_extended(old: &File, new: &File) -> Result<(), (String, Errno)> {
    let names = names(old).map_err(|errno| ("list".to_owned(), errno))?;
    if !names.iter().any(|name| name == ACCESS_LIST) {
        // The directory may have given the new version a list that the old one does not have.
        match fremovexattr(new, ACCESS_LIST) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
            Err(errno) => return Err((ACCESS_LIST.to_owned(), errno)),
        }
    }
    for name in names {
        if OF_THE_SYSTEM.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let copied = value(old, &name).and_then(|value| fsetxattr(new, &name, &value, XattrFlags::empty()));
        copied.map_err(|errno| (name, errno))?;
    }
    Ok(())
}

fn names(file: &File) -> rustix::io::Result<Vec<String>> {
    let list = match grown(|buffer| flistxattr(file, buffer)) {
        Err(Errno::NOTSUP) => Vec::new(),
        list => list?,
    };
    let names = list.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

fn value(file: &File, name: &str) -> rustix::io::Result<Vec<u8>> {
    grown(|buffer| fgetxattr(file, name, buffer))
}

/// Reads into a buffer large enough for most cases, and into a larger one if needed.
fn grown(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    /// The kernel's limit on both lists and values.
    const MAX_BYTES: usize = 64 * 1024;
    let mut buffer = vec![0; 1024];
    loop {
        match read(&mut buffer) {
            Err(Errno::RANGE) if buffer.len() < MAX_BYTES => buffer.resize(MAX_BYTES, 0),
            read => {
                buffer.truncate(read?);
                return Ok(buffer);
            }
        }
    }
}
