//! Protects what must stay as it is although it lies in something writable.
//!
//! What does not exist has a placeholder by now, or gets one here if it has vanished only since.

use std::fs;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::keeper::mount::{MountMode, copy_of, cover, cover_with_blank, place};
use crate::keeper::pins::Pins;
use crate::keeper::placeholder::{self, ATTEMPTS, Hold, is_change, is_placeholder};
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

/// `held` gets the placeholders that have to be made, to be kept as long as anything runs.
pub(super) fn all(plan: &Plan, pins: &mut Pins, held: &mut Vec<Hold>) -> Result<(), KeeperFailure> {
    for path in &plan.protected {
        if let Some((root, beneath)) = plan.exposed(path) {
            protect(root, beneath, pins, held)?;
        }
    }
    Ok(())
}

/// Protects what is `beneath` a writable `root`, however often others change what is there meanwhile.
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
            // It lies in something hidden, or on a disk that nobody writes: nothing can be made there.
            Err(Errno::ROFS) => return Ok(()),
            other => held.extend(other.during(|| format!("holding the place of {}", path.display()))?),
        }
    }
    last
}

/// Goes on to what is protected, or to the link that is on the way to it. Where the link leads is protected by a path
/// of its own.
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

/// A link to a file shows that file; any other link leads nowhere, since no directory can be laid over it.
fn cover_link(path: &Path, link: &OwnedFd) -> std::io::Result<()> {
    let target = fs::canonicalize(path).ok().filter(|target| target.is_file());
    match target.and_then(|target| place(&target).ok()) {
        Some(target) => cover(&copy_of(&target, MountMode::ReadOnly)?, link),
        None => cover_with_blank(link),
    }
}
