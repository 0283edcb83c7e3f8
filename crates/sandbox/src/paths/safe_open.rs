//! Opens that cannot leave a directory: no symbolic link is followed, in no component of the path.
//!
//! On Linux the kernel guarantees it (`openat2`). Elsewhere, and on kernels without that call, the path is opened one
//! component at a time with `O_NOFOLLOW`. That follows no link either but costs one open for each component. Where
//! `O_PATH` does not exist, even a lookup opens the file, so a device may notice it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::{Errno, Result};
use sortie_mutant::is_out;

/// Flags for a lookup without really opening.
#[cfg(target_os = "linux")]
pub(crate) const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(crate) const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Flags for reading a regular file: never waits for a writer, never becomes the process's terminal.
pub(crate) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Flags for listing a directory.
pub(crate) const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Opens `relative`, plain names only, beneath `root`. A symbolic link anywhere in it is [`Errno::LOOP`].
pub(crate) fn open(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        if is_out("no-links") {
            resolve = ResolveFlags::empty();
        }
        let path = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let opened = retry(|| openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve));
        // Kernels before 5.6 do not know the call; old container sandboxes refuse it with `EPERM`.
        if !matches!(opened, Err(Errno::NOSYS | Errno::PERM)) {
            return opened;
        }
    }
    open_stepwise(root, relative, flags)
}

fn open_stepwise(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd> {
    let mut names = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
        }
    }
    let Some((last, parents)) = names.split_last() else {
        return retry(|| openat(root, ".", flags | OFlags::CLOEXEC, Mode::empty()));
    };
    let mut directory: Option<OwnedFd> = None;
    for parent in parents {
        let at = directory.as_ref().map_or(root, AsFd::as_fd);
        directory = Some(open_one(at, Path::new(parent), LOOK | OFlags::DIRECTORY)?);
    }
    open_one(directory.as_ref().map_or(root, AsFd::as_fd), Path::new(last), flags)
}

fn open_one(directory: BorrowedFd<'_>, name: &Path, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match retry(|| openat(directory, name, flags, Mode::empty())) {
        // A lookup of a link without following it succeeds: the result is the link itself.
        Ok(opened) if flags.contains(LOOK) && kind_of(&opened)? == FileType::Symlink => Err(Errno::LOOP),
        Ok(opened) => Ok(opened),
        // With `O_DIRECTORY` a link is reported as "not a directory"; the caller must be able to tell the two apart.
        Err(Errno::NOTDIR) => match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Err(Errno::LOOP),
            _ => Err(Errno::NOTDIR),
        },
        Err(errno) => Err(errno),
    }
}

pub(crate) fn kind_of(file: &OwnedFd) -> Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}

/// Retries after a signal, or, a few times, after a rename elsewhere in the tree.
fn retry<T>(mut open: impl FnMut() -> Result<T>) -> Result<T> {
    const MAX_RACES: usize = 16;
    let mut races = 0;
    loop {
        match open() {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if races < MAX_RACES => races += 1,
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::CWD;

    use super::*;

    type Open = fn(BorrowedFd<'_>, &Path, OFlags) -> Result<OwnedFd>;

    /// The kernel's way and the portable way must not differ in what they open.
    #[test]
    fn both_ways_open_paths_beneath_and_follow_no_link() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        symlink("b", root.join("a/link")).unwrap();
        symlink("b/file", root.join("a/file_link")).unwrap();
        let directory = openat(CWD, root, LOOK | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for open in [open as Open, open_stepwise as Open] {
            let error = |path: &str, flags| open(directory.as_fd(), Path::new(path), flags).err();
            for flags in [LOOK, READ] {
                assert_eq!(error("a/b/file", flags), None);
                assert_eq!(error("", flags), None);
                assert_eq!(error("a/b/absent", flags), Some(Errno::NOENT));
                assert_eq!(error("a/b/file/x", flags), Some(Errno::NOTDIR));
                assert_eq!(error("a/link/file", flags), Some(Errno::LOOP));
                assert_eq!(error("a/file_link", flags), Some(Errno::LOOP));
                assert_eq!(error("../x", flags), Some(Errno::XDEV));
                assert_eq!(error("/etc", flags), Some(Errno::XDEV));
            }
            assert_eq!(error("a/b", LIST), None);
            assert_eq!(error("a/link", LIST), Some(Errno::LOOP));
            assert_eq!(error("a/b/file", LIST), Some(Errno::NOTDIR));
        }
    }
}
