//! Placeholders: empty directories in place of missing protected paths, so that these cannot be created. They exist
//! only while commands run.
//!
//! Simultaneous commands, even of several programs, share one. Each user holds a shared lock on it, and the last one
//! removes it. Removing it earlier would take down the wall that another command has there. A placeholder left by a
//! killed keeper is removed by the next.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags, fchmod, flock, fstat, mkdirat, openat,
    openat2, statat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{getuid, umask};
use sortie_mutant::is_out;

use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

/// Identifies an empty directory as a placeholder. Nobody else creates one that is sticky and closed to its owner.
const MODE: u32 = 0o1555;

/// Mode of a placeholder that someone has put to real use, subject to the mask.
const ORDINARY: u32 = 0o755;

/// The bit that some directories pass on to everything created in them, with their group.
const GROUPS: u32 = 0o2000;

/// Number of retries when others change the path. Each retry means that another process made progress, so this many are
/// never needed.
pub(super) const ATTEMPTS: usize = 1000;

/// A placeholder in use, until it is dropped.
pub(super) struct Hold {
    place: Place,
    directory: OwnedFd,
}

/// The placeholders of one command. Dropping removes them, unless other commands use them.
pub(super) struct Held(Vec<Hold>);

/// The place of a placeholder, existing or not.
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
    /// Removes it if nobody else uses it. If something was put into it, somebody wanted that directory: it stays, with
    /// an ordinary mode. If it cannot be removed, the next command does it.
    fn release(&self) {
        let Place { parent, name } = &self.place;
        let alone = retry_on_intr(|| flock(&self.directory, FlockOperation::NonBlockingLockExclusive)).is_ok();
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

/// Holds a place for every protected path that is missing. Where this user can create nothing, nothing has to be held.
/// But a directory that belongs to the user is closed as a whole, since the command could open it.
pub(super) fn hold_all(plan: &mut Plan) -> Result<Held, KeeperFailure> {
    let mut held = Held(Vec::new());
    let mut closed = Vec::new();
    for path in &plan.protected {
        let Some((root, beneath)) = plan.exposed(path) else { continue };
        match hold(root, beneath) {
            Err(Errno::ACCESS) if !is_out("closed-directories") => closed.extend(own_parent(root, beneath)),
            Err(errno) if is_closed(errno) => {}
            other => held.0.extend(other.during(|| format!("holding the place of {}", path.display()))?),
        }
    }
    plan.protected.extend(closed);
    Ok(held)
}

/// True if nothing can be created in a directory, by this user or on this disk.
pub(super) fn is_closed(errno: Errno) -> bool {
    matches!(errno, Errno::ROFS | Errno::ACCESS | Errno::PERM)
}

/// The directory of the first missing part of `beneath`, if this user owns it.
fn own_parent(root: &Path, beneath: &Path) -> Option<PathBuf> {
    let Missing { place, directory, .. } = missing(root, beneath).ok()??;
    let is_own = fstat(&place.parent).ok()?.st_uid == getuid().as_raw();
    is_own.then_some(directory)
}

/// Removes the placeholders held by the first process inside, which cannot do it itself: it sees them as mounts.
pub(super) fn take_away_all(plan: &Plan) {
    for path in &plan.protected {
        let Some((root, beneath)) = plan.exposed(path) else { continue };
        // If it cannot be checked, it is left to the next command.
        if let Ok(Some(Missing { place, is_held: true, .. })) = missing(root, beneath)
            && let Ok(Some(hold)) = take(place, false)
        {
            hold.release();
        }
    }
}

/// True if an open directory is a placeholder.
pub(super) fn is_placeholder(directory: impl AsFd) -> rustix::io::Result<bool> {
    let stat = fstat(&directory)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory || stat.st_mode & 0o7777 & !GROUPS != MODE {
        return Ok(false);
    }
    // It need not be open for reading.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    for entry in Dir::new(retry_on_intr(|| openat(&directory, ".", flags, Mode::empty()))?)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if something failed only because others changed the path.
pub(super) fn is_change(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
}

/// Holds the place of the first missing part of `beneath`, if there is one.
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
            // Another command has just removed it, or somebody has created the real thing.
            Ok(None) => {}
            Err(errno) if is_change(errno) => last = errno,
            Err(errno) => return Err(errno),
        }
    }
    Err(last)
}

/// The first missing part of a path, and whether a placeholder is already there.
struct Missing {
    place: Place,
    /// The path of the directory that it is missing in.
    directory: PathBuf,
    is_held: bool,
}

/// Descends from the root through existing directories, without following links. A link or another file on the way is
/// covered as it is: nothing is missing beneath it.
fn missing(root: &Path, beneath: &Path) -> rustix::io::Result<Option<Missing>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parent = retry_on_intr(|| openat2(CWD, root, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))?;
    let mut path = root.to_owned();
    for name in beneath {
        let is_held = match retry_on_intr(|| openat(&parent, name, flags, Mode::empty())) {
            Ok(directory) if is_placeholder(&directory)? => true,
            Ok(directory) => {
                parent = directory;
                path.push(name);
                continue;
            }
            Err(Errno::NOENT) => false,
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        return Ok(Some(Missing { place: Place { parent, name: name.to_owned() }, directory: path, is_held }));
    }
    Ok(None)
}

/// Joins the holders of a place, and `makes` the placeholder if asked. `None` if it is not, or no longer, a
/// placeholder.
fn take(place: Place, makes: bool) -> rustix::io::Result<Option<Hold>> {
    let Place { parent, name } = &place;
    let made = makes
        && match make(parent, name) {
            Err(Errno::EXIST) => false,
            other => other.map(|()| true)?,
        };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = retry_on_intr(|| openat(parent, name, flags, Mode::empty()))?;
    retry_on_intr(|| flock(&directory, FlockOperation::LockShared))?;
    if made {
        fchmod(&directory, Mode::from_raw_mode(MODE))?;
    }
    let is_one = is_placeholder(&directory)?;
    let hold = Hold { place, directory };
    Ok((is_one && hold.is_in_its_place()?).then_some(hold))
}

/// Sets the mode from the first instant: another command that finds it must recognise it. There is no other thread here
/// that the mask could affect.
fn make(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let mask = umask(Mode::empty());
    let made = mkdirat(parent, name, Mode::from_raw_mode(MODE));
    umask(mask);
    made
}

/// Placeholders without a command: who holds one, and who removes it.
#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::walls::filter::FilterProgram;
    use crate::walls::{Network, ProcessLimits, Tier};

    /// A workspace with one protected path.
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
    fn another_process_can_remove_a_placeholder_that_nobody_holds() {
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
    fn removal_creates_nothing_of_its_own() {
        let (directory, plan) = workspace("gone/hooks");
        take_away_all(&plan);
        fs::create_dir(directory.path().join("gone")).unwrap();
        take_away_all(&plan);
        assert_eq!(fs::read_dir(directory.path().join("gone")).unwrap().count(), 0);
    }

    #[test]
    fn the_last_of_several_holders_removes_it() {
        let (directory, mut plan) = workspace("gone");
        let (first, second) = (hold_all(&mut plan).unwrap(), hold_all(&mut plan).unwrap());
        drop(first);
        assert!(directory.path().join("gone").exists());
        drop(second);
        assert!(!directory.path().join("gone").exists());
    }
}
