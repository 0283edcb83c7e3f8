//! Moves a file that must not stay in the workspace to a spill directory.

use sortie_protocol::file_name::spelled;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, readlinkat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::files::error::WriteError;
use crate::paths::safe_open::{self, LIST, READ};
use crate::paths::{Access, GuardedRoots, shown};
use crate::spill::SpillDir;

/// Most bytes kept of a file on another file system than the spill directory.
const MAX_KEPT: u64 = 16 << 20;

/// Implements [`Workspace::take_away`](crate::Workspace::take_away).
pub(super) fn move_out(inside: &GuardedRoots, relative: &Path, spill: &SpillDir) -> Result<PathBuf, WriteError> {
    let path = spelled(relative);
    let place = inside.admitted(relative, Access::Write)?;
    let (Some(parent), Some(name)) = (place.beneath.parent(), place.beneath.file_name()) else {
        return Err(WriteError::IsDirectory { path: shown(&path) });
    };
    let fail = |errno| WriteError::from_errno(&path, errno);
    let directory = safe_open::open(place.root.directory(), parent, LIST).map_err(fail)?;
    let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind == FileType::Directory {
        return Err(WriteError::IsDirectory { path: shown(&path) });
    }
    let unkept = |source| WriteError::Io { path: shown(&path), source };
    let hint = format!("taken-{}", name.to_string_lossy());
    let (taken, file) = spill.create_file(&hint).map_err(|error| unkept(io::Error::other(error)))?;
    let found = Found { directory: directory.as_fd(), name: Path::new(name), kind };
    let moved = found.move_to(&taken, &file, spill);
    if moved.is_err() {
        spill.remove(&taken);
    }
    moved.map(|()| taken).map_err(unkept)
}

/// An entry of a directory, by its name.
struct Found<'a> {
    directory: BorrowedFd<'a>,
    name: &'a Path,
    kind: FileType,
}

impl Found<'_> {
    /// Moves it to a file of the spill directory.
    fn move_to(&self, path: &Path, mut file: &File, spill: &SpillDir) -> io::Result<()> {
        let Self { directory, name, kind } = *self;
        match renameat(directory, name, spill.directory(), path.file_name().unwrap_or_default()) {
            Err(Errno::XDEV) => {}
            moved => return Ok(moved?),
        }
        match kind {
            FileType::RegularFile => {
                let source = File::from(safe_open::open(directory, name, READ)?);
                file.set_permissions(source.metadata()?.permissions())?;
                io::copy(&mut source.take(MAX_KEPT), &mut file)?;
            }
            FileType::Symlink => file.write_all(readlinkat(directory, name, Vec::new())?.as_bytes())?,
            _ => {}
        }
        Ok(unlinkat(directory, name, AtFlags::empty())?)
    }
}
