//! Placeholders: empty directories in place of what is protected and does not exist, so that it cannot be made. They
//! are there only while commands run.
//!
//! Commands at the same time, of several programs too, share one. Whoever uses it holds a shared lock on it, and the
//! last one takes it away; removing it earlier would take down the wall that another command has in its place. What a
//! killed keeper leaves behind is taken away by the next.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags, fchmod, flock, fstat, mkdirat, openat,
    openat2, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::umask;

use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

/// By this mode an empty directory is known as a placeholder. Nobody else makes one that is sticky and closed to its
/// owner.
const MODE: u32 = 0o1555;

/// The mode of a directory that is what somebody wanted to have, as far as the mask leaves it.
const ORDINARY: u32 = 0o755;

/// In some directories all that is made belongs to their group, and is marked so.
const GROUPS: u32 = 0o2000;

/// How often something is tried again because others have changed what is there. Each of them gets on, so this is not
/// waited for in vain.
pub(super) const ATTEMPTS: usize = 1000;

/// A placeholder in use, as long as it is not dropped.
pub(super) struct Hold {
    place: Place,
    directory: OwnedFd,
}

/// The placeholders of one command. Dropped, they are taken away, unless other commands use them.
pub(super) struct Held(Vec<Hold>);

/// Where a placeholder is, or should be.
struct Place {
    parent: OwnedFd,
    name: OsString,
}

impl Drop for Held {
    fn drop(&mut self) {
        for hold in &self.0 {
            hold.release();
        }
    }
}

impl Hold {
    /// Takes it away if nobody else uses it. Something may have come into it: then it is what somebody wanted to have
    /// there, and stays, as if that somebody had made it. What cannot be taken away is left to the next command.
    fn release(&self) {
        let Place { parent, name } = &self.place;
        let alone = flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !alone || !self.is_in_its_place().unwrap_or(false) || !self.has_its_mode() {
            return;
        }
        if let Err(Errno::NOTEMPTY | Errno::EXIST) = unlinkat(parent, name, AtFlags::REMOVEDIR) {
            let mask = umask(Mode::empty());
            umask(mask);
            fchmod(&self.directory, Mode::from_raw_mode(ORDINARY) & !mask).ok();
        }
    }

    fn is_in_its_place(&self) -> rustix::io::Result<bool> {
        let held = fstat(&self.directory)?;
        match statat(&self.place.parent, &self.place.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok((found.st_ino, found.st_dev) == (held.st_ino, held.st_dev)),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn has_its_mode(&self) -> bool {
        fstat(&self.directory).is_ok_and(|stat| stat.st_mode & 0o7777 & !GROUPS == MODE)
    }
}

/// Holds a place for everything protected that is missing.
pub(super) fn hold_all(plan: &Plan) -> Result<Held, KeeperFailure> {
    let mut held = Held(Vec::new());
    for path in &plan.protected {
        let Some((root, beneath)) = plan.exposed(path) else { continue };
        held.0.extend(hold(root, beneath).during(|| format!("holding the place of {}", path.display()))?);
    }
    Ok(held)
}

/// Takes away what the first process inside has held, which cannot do it itself: to it they are mounts.
pub(super) fn take_away_all(plan: &Plan) {
    for path in &plan.protected {
        let Some((root, beneath)) = plan.exposed(path) else { continue };
        // What cannot be looked at is left to the next command.
        if let Ok(Some(Missing { place, is_held: true })) = missing(root, beneath)
            && let Ok(Some(hold)) = take(place, false)
        {
            hold.release();
        }
    }
}

/// Whether an open directory is a placeholder.
pub(super) fn is_placeholder(directory: impl AsFd) -> rustix::io::Result<bool> {
    let stat = fstat(&directory)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory || stat.st_mode & 0o7777 & !GROUPS != MODE {
        return Ok(false);
    }
    // What is open need not be open for reading.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    for entry in Dir::new(openat(directory, ".", flags, Mode::empty())?)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether something failed only because others have changed what is there.
pub(super) fn is_change(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
}

/// Holds the place of the first part of `beneath` that is missing, if one is.
pub(super) fn hold(root: &Path, beneath: &Path) -> rustix::io::Result<Option<Hold>> {
    let mut last = Errno::AGAIN;
    for _ in 0..ATTEMPTS {
        let taken = match missing(root, beneath) {
            Ok(None) => return Ok(None),
            Ok(Some(Missing { place, .. })) => take(place, true),
            Err(errno) => Err(errno),
        };
        match taken {
            Ok(Some(hold)) => return Ok(Some(hold)),
            // Another command has just taken it away, or somebody has made the real thing.
            Ok(None) => {}
            Err(errno) if is_change(errno) => last = errno,
            Err(errno) => return Err(errno),
        }
    }
    Err(last)
}

/// The first part of a path that does not exist, and whether its place is held already.
struct Missing {
    place: Place,
    is_held: bool,
}

/// Goes down from the root as far as there are directories, by way of no link. What leads elsewhere is covered as it
/// is, and so is what is no directory: neither has anything missing in it.
fn missing(root: &Path, beneath: &Path) -> rustix::io::Result<Option<Missing>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parent = openat2(CWD, root, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    for name in beneath {
        let is_held = match openat(&parent, name, flags, Mode::empty()) {
            Ok(directory) if is_placeholder(&directory)? => true,
            Ok(directory) => {
                parent = directory;
                continue;
            }
            Err(Errno::NOENT) => false,
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        return Ok(Some(Missing { place: Place { parent, name: name.to_owned() }, is_held }));
    }
    Ok(None)
}

/// Joins those who hold a place, or `makes` the placeholder. `None` if it is none, or none any more.
fn take(place: Place, makes: bool) -> rustix::io::Result<Option<Hold>> {
    let Place { parent, name } = &place;
    let made = makes
        && match make(parent, name) {
            Err(Errno::EXIST) => false,
            other => other.map(|()| true)?,
        };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    flock(&directory, FlockOperation::LockShared)?;
    if made {
        fchmod(&directory, Mode::from_raw_mode(MODE))?;
    }
    let is_one = is_placeholder(&directory)?;
    let hold = Hold { place, directory };
    Ok((is_one && hold.is_in_its_place()?).then_some(hold))
}

/// With its mode from the first instant: another command that finds it must know it for what it is. There is no other
/// thread here that the mask could matter to.
fn make(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let mask = umask(Mode::empty());
    let made = mkdirat(parent, name, Mode::from_raw_mode(MODE));
    umask(mask);
    made
}

/// Placeholders without a command around them: who holds one, and who takes it away.
#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::walls::filter::FilterProgram;
    use crate::walls::{Network, ProcessLimits, Tier};

    /// A workspace in which one path is protected.
    fn workspace(protected: &str) -> (TempDir, Plan) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let plan = Plan {
            tier: Tier::Namespaces,
            writable: vec![root.clone()],
            protected: vec![root.join(protected)],
            hidden: Vec::new(),
            network: Network::None,
            limits: ProcessLimits::default(),
            directory: root.clone(),
            bash: "/bin/bash".into(),
            command: "true".into(),
            environment: Vec::new(),
            filter: FilterProgram::new(),
            root,
        };
        (directory, plan)
    }

    #[test]
    fn what_another_process_held_is_taken_away_when_nobody_holds_it_any_more() {
        let (directory, plan) = workspace("gone/hooks");
        let held = hold(&plan.root, Path::new("gone/hooks")).unwrap().unwrap();
        take_away_all(&plan);
        assert!(directory.path().join("gone").exists(), "it is in use");
        drop(held);
        assert!(directory.path().join("gone").exists(), "who cannot take it away leaves it");
        take_away_all(&plan);
        assert!(!directory.path().join("gone").exists());
    }

    #[test]
    fn nothing_is_made_only_to_be_taken_away() {
        let (directory, plan) = workspace("gone/hooks");
        take_away_all(&plan);
        fs::create_dir(directory.path().join("gone")).unwrap();
        take_away_all(&plan);
        assert_eq!(fs::read_dir(directory.path().join("gone")).unwrap().count(), 0);
    }

    #[test]
    fn the_last_of_several_takes_it_away() {
        let (directory, plan) = workspace("gone");
        let (first, second) = (hold_all(&plan).unwrap(), hold_all(&plan).unwrap());
        drop(first);
        assert!(directory.path().join("gone").exists());
        drop(second);
        assert!(!directory.path().join("gone").exists());
    }
}
