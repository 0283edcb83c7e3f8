//! What must not stay in the workspace: moved out of it, into a spill directory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, readlinkat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::beneath::{self, LIST, READ};
use crate::error::{WriteError, shown};
use crate::guard::Access;
use crate::spill::SpillDir;
use crate::workspace::Workspace;

/// What is kept of a file that lies on another file system than the spill directory.
const MAX_KEPT: u64 = 16 << 20;

impl Workspace {
    /// Moves a file or a link that a walk has found out of the workspace, and says where it is now. `relative` to the
    /// root, or absolute in an added directory, plain names only. No link is followed, and no directory is moved.
    ///
    /// It keeps its mode, and its name is part of the new one. Where it cannot be moved as it is, the first 16 MiB of a
    /// file are kept, and of a link where it led.
    pub fn take_away(&self, relative: &Path, spill: &SpillDir) -> Result<PathBuf, WriteError> {
        let path = relative.to_string_lossy();
        let place = self.roots.place(relative)?;
        self.guards.require(&path, &place, Access::Write)?;
        let (Some(parent), Some(name)) = (place.beneath.parent(), place.beneath.file_name()) else {
            return Err(WriteError::IsDirectory { path: shown(&path) });
        };
        let fail = |errno| WriteError::from_errno(&path, errno);
        let directory = beneath::open(place.root.directory(), parent, LIST).map_err(fail)?;
        let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Directory {
            return Err(WriteError::IsDirectory { path: shown(&path) });
        }
        let unkept = |source| WriteError::Io { path: shown(&path), source };
        let hint = format!("taken-{}", name.to_string_lossy());
        let (taken, file) = spill.create_file(&hint).map_err(|error| unkept(io::Error::other(error)))?;
        let moved = move_out(directory.as_fd(), Path::new(name), kind, (&taken, &file), spill);
        if moved.is_err() {
            spill.remove(&taken);
        }
        moved.map(|()| taken).map_err(unkept)
    }
}

/// Moves what is in a directory under this name to a file of the spill directory.
fn move_out(
    directory: BorrowedFd<'_>,
    name: &Path,
    kind: FileType,
    (path, mut file): (&Path, &File),
    spill: &SpillDir,
) -> io::Result<()> {
    match renameat(directory, name, spill.directory(), path.file_name().unwrap_or_default()) {
        Err(Errno::XDEV) => {}
        moved => return Ok(moved?),
    }
    match kind {
        FileType::RegularFile => {
            let source = File::from(beneath::open(directory, name, READ)?);
            file.set_permissions(source.metadata()?.permissions())?;
            io::copy(&mut source.take(MAX_KEPT), &mut file)?;
        }
        FileType::Symlink => file.write_all(readlinkat(directory, name, Vec::new())?.as_bytes())?,
        _ => {}
    }
    Ok(unlinkat(directory, name, AtFlags::empty())?)
}
