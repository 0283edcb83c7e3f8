//! Protects paths that must stay unchanged inside a writable directory.
//!
//! A missing path already has a placeholder, or gets one here if it has vanished since.

use std::fs;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, fstat};

use crate::keeper::file_view::pins::Pins;
use crate::keeper::mount::{MountMode, copy_of, cover, cover_with_blank, place};
use crate::keeper::placeholder::{self, ATTEMPTS, Hold, is_change, is_closed, is_placeholder};
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

/// `held` gets the placeholders created here, to be kept as long as anything runs.
pub(super) fn all(plan: &Plan, pins: &mut Pins, held: &mut Vec<Hold>) -> Result<(), KeeperFailure> {
    for path in &plan.protected {
        if let Some((root, beneath)) = plan.exposed(path) {
            protect(root, beneath, pins, held)?;
        }
    }
    Ok(())
}

/// Protects one path, as far as it exists. Nothing is created for somebody else who is making a change.
pub(super) fn again(plan: &Plan, path: &Path, pins: &mut Pins) -> Result<(), KeeperFailure> {
    let Some((root, beneath)) = plan.exposed(path) else { return Ok(()) };
    let mut last = Ok(());
    for _ in 0..ATTEMPTS {
        last = cover_all_the_way(root, beneath, pins);
        if !last.as_ref().is_err_and(|failure| is_change(failure.errno)) {
            break;
        }
        pins.forget(path);
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
    }
    last
}

/// Protects what is `beneath` a writable `root`, even if others keep changing it meanwhile.
fn protect(root: &Path, beneath: &Path, pins: &mut Pins, held: &mut Vec<Hold>) -> Result<(), KeeperFailure> {
    let mut last = Ok(());
    for _ in 0..ATTEMPTS {
        last = cover_all_the_way(root, beneath, pins);
        if !last.as_ref().is_err_and(|failure| is_change(failure.errno)) {
            break;
        }
        let path = root.join(beneath);
        pins.forget(&path);
        match placeholder::hold(root, beneath) {
            // It lies in a hidden directory, or on a read-only disk, or in a directory that others own.
            Err(errno) if is_closed(errno) => return Ok(()),
            other => held.extend(other.during(|| format!("holding the place of {}", path.display()))?),
        }
    }
    last
}

/// Follows the path down to its end, or to the first link on the way. The target of the link is protected by a path of
/// its own.
fn cover_all_the_way(root: &Path, beneath: &Path, pins: &mut Pins) -> Result<(), KeeperFailure> {
    let mut path = root.to_owned();
    let mut rest = beneath.components();
    loop {
        path.extend(rest.next());
        let is_last = rest.as_path().as_os_str().is_empty();
        let protecting = || format!("protecting {}", path.display());
        let found = place(&path)?;
        let kind = FileType::from_raw_mode(fstat(&found).during(protecting)?.st_mode);
        if kind == FileType::Symlink {
            return pins.close(&path, &found, || cover_link(&path, &found)).during(protecting);
        }
        let ends = is_last || kind != FileType::Directory || is_placeholder(&found).during(protecting)?;
        let mode = if ends { MountMode::ReadOnly } else { MountMode::AsItIs };
        pins.pin(&path, &found, mode).during(protecting)?;
        if ends {
            return Ok(());
        }
    }
}

/// A link to a file keeps showing that file; any other link becomes unreadable, since no directory can be mounted over
/// it.
fn cover_link(path: &Path, link: &OwnedFd) -> std::io::Result<()> {
    let target = fs::canonicalize(path).ok().filter(|target| target.is_file());
    match target.and_then(|target| place(&target).ok()) {
        Some(target) => cover(&copy_of(&target, MountMode::ReadOnly)?, link),
        None => cover_with_blank(link),
    }
}
