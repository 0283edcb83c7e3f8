//! Pins the directories on the way to a protected or hidden path.
//!
//! A mount keeps its own place from being moved or removed, but not its parent directories. Those could be moved away,
//! and their contents reached under another name. So each of them becomes a mount as well.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;

use crate::keeper::mount::{MountMode, copy_of, cover, try_place};

/// Paths that have become mounts, and whether each was made read-only.
#[derive(Default)]
pub(super) struct Pins(HashSet<(PathBuf, MountMode)>);

impl Pins {
    /// Mounts that stand already, in whatever mode.
    pub(super) fn standing(mounts: &BTreeSet<PathBuf>) -> Self {
        let both = |path: &PathBuf| [MountMode::AsItIs, MountMode::ReadOnly].map(|mode| (path.clone(), mode));
        Self(mounts.iter().flat_map(both).collect())
    }

    /// Mounts what was `found` at a path over itself, once.
    pub(super) fn pin(&mut self, path: &Path, found: &OwnedFd, mode: MountMode) -> io::Result<()> {
        self.once(path, found, mode, || cover(&copy_of(found, mode)?, found))
    }

    /// Runs `cover` on what was `found` at a path, once and for good.
    pub(super) fn close(
        &mut self,
        path: &Path,
        found: &OwnedFd,
        cover: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        self.once(path, found, MountMode::ReadOnly, cover)
    }

    /// Forgets the mounts on the way to a path: when someone removes a directory, its mount goes with it.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.retain(|(pinned, _)| !path.starts_with(pinned));
    }

    fn once(
        &mut self,
        path: &Path,
        found: &OwnedFd,
        mode: MountMode,
        cover: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let pin = (path.to_owned(), mode);
        if !self.0.contains(&pin) {
            // The kernel has several errors for a path that has moved; one is enough here.
            cover().map_err(|error| if is_at(found, path) { error } else { Errno::NOENT.into() })?;
            self.0.insert(pin);
        }
        Ok(())
    }
}

/// True if an open file is still the one at the path, in the same mount.
fn is_at(found: &OwnedFd, path: &Path) -> bool {
    try_place(path).is_ok_and(|now| matches!((identity(&now), identity(found)), (Ok(now), Ok(found)) if now == found))
}

fn identity(place: &OwnedFd) -> rustix::io::Result<(u64, u64)> {
    let found = statx(place, c"", AtFlags::EMPTY_PATH, StatxFlags::INO | StatxFlags::MNT_ID)?;
    Ok((found.stx_mnt_id, found.stx_ino))
}
