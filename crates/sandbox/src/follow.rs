//! Where a path leads: `.`, `..` and symbolic links worked out by hand, one component at a time.
//!
//! Only links matter here. A name that is no link is just a name, whether or not it exists, and `..` takes it back. So
//! the answer for a path that ends outside says nothing about what exists there, and a path that comes back in works.
//! The root mounted a second time elsewhere, or spelt in other letter case, counts as another place.
//! Nothing is opened: the caller opens what this finds without following any link, so a change in between is noticed.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, readlinkat};

use crate::AccessError;

/// As many links as the kernel itself follows in one path.
const MAX_LINKS: usize = 40;
/// The kernel's bound on a path, its ending NUL included.
const MAX_PATH_BYTES: usize = 4096;

/// The root that paths are judged against: its canonical path, and the directory pinned when it was opened.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) path: &'a Path,
    pub(crate) directory: BorrowedFd<'a>,
}

/// The path relative to the root that `path` leads to: plain names only, no link, no `..`; empty for the root itself.
pub(crate) fn follow(root: Root<'_>, path: &str) -> Result<PathBuf, AccessError> {
    check(path)?;
    // Components still to take, the next one last.
    let mut ahead = Vec::new();
    let mut place = root.path.to_owned();
    push_components(&mut ahead, Path::new(path));
    let mut links = 0;
    while let Some(step) = ahead.pop() {
        match step {
            Step::Root => place = PathBuf::from("/"),
            Step::Up => {
                place.pop();
            }
            Step::Name(name) => {
                let candidate = place.join(&name);
                match read_link(root, &candidate) {
                    Some(target) => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(too_many_links(root, path, &candidate));
                        }
                        push_components(&mut ahead, Path::new(&target));
                    }
                    None => place = candidate,
                }
            }
        }
    }
    match place.strip_prefix(root.path) {
        Ok(relative) => Ok(relative.to_owned()),
        Err(_) => Err(AccessError::outside(path, root.path)),
    }
}

enum Step {
    Root,
    Up,
    Name(OsString),
}

fn check(path: &str) -> Result<(), AccessError> {
    if path.is_empty() {
        return Err(AccessError::invalid(path, "it is empty"));
    }
    if path.contains('\0') {
        return Err(AccessError::invalid(path, "it contains a NUL character"));
    }
    if path.len() >= MAX_PATH_BYTES {
        return Err(AccessError::invalid(path, "it is too long"));
    }
    Ok(())
}

fn push_components(ahead: &mut Vec<Step>, path: &Path) {
    ahead.extend(path.components().rev().filter_map(|component| match component {
        Component::RootDir | Component::Prefix(_) => Some(Step::Root),
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
    }));
}

/// The target, if there is a link. All else (a plain file, nothing, no permission) is settled by the open that follows.
fn read_link(root: Root<'_>, path: &Path) -> Option<OsString> {
    let target = match path.strip_prefix(root.path) {
        Ok(inside) => readlinkat(root.directory, inside, Vec::new()),
        Err(_) => readlinkat(CWD, path, Vec::new()),
    };
    target.ok().map(|target| OsString::from_vec(target.into_bytes()))
}

fn too_many_links(root: Root<'_>, path: &str, candidate: &Path) -> AccessError {
    if candidate.starts_with(root.path) {
        AccessError::invalid(path, "it passes through too many symbolic links, perhaps in a circle")
    } else {
        AccessError::outside(path, root.path)
    }
}
