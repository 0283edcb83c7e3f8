//! Copies mount trees and mounts them over paths, without following a link.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::retry_on_intr;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

use crate::system::{self, MountAttributes};
use crate::walls::report::{During, KeeperFailure};

/// An unreadable file, for covering others.
pub(super) const BLANK: &str = "/dev/.hidden";

/// Write access to a copied mount tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum MountMode {
    /// Access as in the original tree.
    AsItIs,
    ReadOnly,
}

/// A detached copy of the mount tree at an open path.
pub(super) fn copy_of(place: &OwnedFd, mode: MountMode) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = retry_on_intr(|| open_tree(place, c"", flags))?;
    if mode == MountMode::ReadOnly {
        system::restrict_mounts(tree.as_fd(), c"", MountAttributes { read_only: true, no_devices: true })?;
    }
    Ok(tree)
}

/// Opens a path without following any link: a link at its end is opened itself.
pub(super) fn place(path: &Path) -> Result<OwnedFd, KeeperFailure> {
    try_place(path).during(|| format!("opening {}", path.display()))
}

/// Opens like [`place`], with the plain error.
pub(super) fn try_place(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))?)
}

/// Mounts a tree over a path. The original can be neither reached nor moved any more.
pub(super) fn cover(tree: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, c"", place, c"", flags)?)
}

/// Mounts the unreadable file over something that is not a directory.
pub(super) fn cover_with_blank(place: &OwnedFd) -> io::Result<()> {
    cover(&copy_of(&try_place(Path::new(BLANK))?, MountMode::ReadOnly)?, place)
}
