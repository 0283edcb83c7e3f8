//! Something in place of what is protected and does not exist, so that it cannot be made: an empty directory, there
//! only while commands run.
//!
//! Commands at the same time, of several programs too, share one. Whoever uses it holds a shared lock on it, and the
//! last one takes it away; removing it earlier would take down the wall that another command has in its place. What a
//! killed keeper leaves behind is taken away by the next.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, fchmod, flock, fstat, mkdirat, openat,
    openat2, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::umask;

use crate::process::plan::Plan;
use crate::process::report::{During, Failure};

/// By this mode a directory is known as a placeholder. Nobody else makes one that is sticky and closed to its owner.
const MODE: u32 = 0o1555;

/// A placeholder in use. Dropped, it is removed, unless another command uses it or something has come into it.
pub(super) struct Placeholder {
    parent: OwnedFd,
    name: OsString,
    directory: OwnedFd,
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        if flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // Not empty any more: then it is what somebody wanted to have there.
            unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR).ok();
        }
    }
}

/// Holds a place for everything protected that is missing.
pub(super) fn hold_all(plan: &Plan) -> Result<Vec<Placeholder>, Failure> {
    let mut held = Vec::new();
    for path in &plan.protected {
        let Some((root, beneath)) = plan.exposed(path) else { continue };
        held.extend(hold(root, beneath).during(|| format!("holding the place of {}", path.display()))?);
    }
    Ok(held)
}

/// Whether something of this kind and mode is a placeholder.
pub(super) fn is_placeholder(stat: &Stat) -> bool {
    // In some directories all that is made belongs to their group, and is marked so.
    kind(stat) == FileType::Directory && stat.st_mode & 0o5777 == MODE
}

/// Goes down from the root as far as there are directories, by way of no link.
fn hold(root: &Path, beneath: &Path) -> rustix::io::Result<Option<Placeholder>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parent = openat2(CWD, root, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    for name in beneath {
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_placeholder(&stat) => return take(parent, name),
            // What leads elsewhere is covered as it is, and so is what is no directory.
            Ok(stat) if kind(&stat) != FileType::Directory => return Ok(None),
            Ok(_) => parent = openat(&parent, name, flags, Mode::empty())?,
            Err(Errno::NOENT) => return take(parent, name),
            Err(errno) => return Err(errno),
        }
    }
    Ok(None)
}

/// Makes it, or joins those who have made it; until it is certain that it is still in its place.
fn take(parent: OwnedFd, name: &OsStr) -> rustix::io::Result<Option<Placeholder>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let made = match make(&parent, name) {
            Err(Errno::EXIST) => false,
            other => other.map(|()| true)?,
        };
        let directory = match openat(&parent, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => continue,
            other => other?,
        };
        flock(&directory, FlockOperation::LockShared)?;
        if made {
            fchmod(&directory, Mode::from_raw_mode(MODE))?;
        }
        let held = fstat(&directory)?;
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if (found.st_ino, found.st_dev) != (held.st_ino, held.st_dev) => {}
            Ok(found) if is_placeholder(&found) => {
                return Ok(Some(Placeholder { parent, name: name.to_owned(), directory }));
            }
            // Somebody else has just made the real thing.
            Ok(_) => return Ok(None),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// With its mode from the first instant: another command that finds it must know it for what it is. There is no other
/// thread here that the mask could matter to.
fn make(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let mask = umask(Mode::empty());
    let made = mkdirat(parent, name, Mode::from_raw_mode(MODE));
    umask(mask);
    made
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}
