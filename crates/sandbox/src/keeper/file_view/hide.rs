//! Hides files and directories from a command: each is covered by something unreadable.

use std::io;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use crate::keeper::file_view::pins::Pins;
use crate::keeper::mount::{MountMode, cover_with_blank, try_place};
use crate::keeper::placeholder::{ATTEMPTS, is_change};
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

pub(super) fn all(plan: &Plan, pins: &mut Pins) -> Result<(), KeeperFailure> {
    plan.hidden.iter().try_for_each(|path| follow(plan, path, pins).during(|| format!("hiding {}", path.display())))
}

/// Hides one path, if it exists.
pub(super) fn again(plan: &Plan, path: &Path, pins: &mut Pins) -> Result<(), KeeperFailure> {
    follow(plan, path, pins).during(|| format!("hiding {} again", path.display()))
}

/// Hides the path, or its current target. Missing paths, and paths in replaced directories, need no hiding.
fn follow(plan: &Plan, path: &Path, pins: &mut Pins) -> io::Result<()> {
    let mut path = path.to_owned();
    let mut last = Ok(());
    for _ in 0..ATTEMPTS {
        last = hide(plan, &path, pins);
        if !last.as_ref().is_err_and(|error| Errno::from_io_error(error).is_some_and(is_change)) {
            break;
        }
        pins.forget(&path);
        match path.canonicalize() {
            Ok(leads) => path = leads,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    last
}

fn hide(plan: &Plan, path: &Path, pins: &mut Pins) -> io::Result<()> {
    pin_the_way(plan, path, pins)?;
    let (place, kind) = open(path)?;
    pins.close(path, &place, || {
        if kind == FileType::Directory { cover_directory(&place) } else { cover_with_blank(&place) }
    })
}

fn cover_directory(place: &OwnedFd) -> io::Result<()> {
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // The path may have changed since it was opened; the descriptor has not.
    let path = format!("/proc/self/fd/{}", place.as_raw_fd());
    Ok(mount("hidden", path, "tmpfs", flags, c"mode=000,size=4k")?)
}

/// Pins the directories on the way. In a writable directory the hidden path could otherwise be moved to an unhidden
/// place, if not by this command then by the next.
fn pin_the_way(plan: &Plan, path: &Path, pins: &mut Pins) -> io::Result<()> {
    let Some((root, beneath)) = plan.exposed(path) else { return Ok(()) };
    let mut way = root.to_owned();
    for name in beneath.parent().into_iter().flatten() {
        way.push(name);
        pins.pin(&way, &open(&way)?.0, MountMode::AsItIs)?;
    }
    Ok(())
}

/// Opens a path and returns its kind. A link at its end is refused like one on the way to it.
fn open(path: &Path) -> io::Result<(OwnedFd, FileType)> {
    let place = try_place(path)?;
    match FileType::from_raw_mode(fstat(&place)?.st_mode) {
        FileType::Symlink => Err(Errno::LOOP.into()),
        kind => Ok((place, kind)),
    }
}
