//! Resolves paths: `.`, `..` and symbolic links by hand, one component at a time.
//!
//! Only links matter here. A name that is not a link is just a name, whether or not it exists, and `..` undoes it. So
//! the answer for a path that ends outside reveals nothing about what exists there, and a path that comes back in
//! works. A root mounted a second time elsewhere, or spelt in other letter case, counts as another place. Nothing is
//! opened: the caller opens the result without following any link, so a change in between is noticed.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, readlinkat};
use sortie_protocol::file_name::unspelled;

use crate::paths::error::AccessError;
use crate::paths::roots::{Place, Roots};

/// The kernel's own limit on links in one path.
const MAX_LINKS: usize = 40;
/// The kernel's limit on a path, including the final NUL.
const MAX_PATH_BYTES: usize = 4096;

/// The place that `path` leads to, whether or not anything is there. Relative paths start at the workspace.
pub(crate) fn resolve_path<'a>(roots: &'a Roots, path: &str) -> Result<Place<'a>, AccessError> {
    check(path)?;
    // Remaining components, the next one last.
    let mut ahead = Vec::new();
    let mut reached = roots.workspace().path.clone();
    push_components(&mut ahead, Path::new(&*unspelled(path)));
    let mut links = 0;
    while let Some(step) = ahead.pop() {
        match step {
            Step::Root => reached = PathBuf::from("/"),
            Step::Up => {
                reached.pop();
            }
            Step::Name(name) => {
                let candidate = reached.join(&name);
                match read_link(roots, &candidate) {
                    Some(target) => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(too_many_links(roots, path, &candidate));
                        }
                        push_components(&mut ahead, Path::new(&target));
                    }
                    None => reached = candidate,
                }
            }
        }
    }
    match roots.holding(&reached) {
        Some((root, beneath)) => Ok(Place { root, beneath: Cow::Owned(beneath.to_owned()) }),
        None => Err(roots.outside(path)),
    }
}

/// The place that `path` leads to if it contains no link; `None` if the text alone does not tell.
///
/// Most paths have no links. Opened without following links, they need not be resolved by hand.
pub(crate) fn resolve_without_links<'a>(roots: &'a Roots, path: &'a str) -> Option<Place<'a>> {
    check(path).ok()?;
    let Cow::Borrowed(path) = unspelled(path) else { return None };
    let path = Path::new(path);
    let (root, beneath) = if path.is_absolute() { roots.holding(path)? } else { (roots.workspace(), path) };
    let (mut names, mut n_bytes) = (0, 0);
    for component in beneath.components() {
        match component {
            Component::Normal(name) => (names, n_bytes) = (names + 1, n_bytes + name.len()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    // With just one separator between any two names it is already normalised.
    if n_bytes + names == beneath.as_os_str().len() + 1 {
        return Some(Place { root, beneath: Cow::Borrowed(beneath) });
    }
    let names = beneath.components().filter(|component| matches!(component, Component::Normal(_)));
    Some(Place { root, beneath: Cow::Owned(names.collect()) })
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

/// The target, if this is a link. The open that follows handles everything else (a plain file, nothing, no permission).
fn read_link(roots: &Roots, path: &Path) -> Option<OsString> {
    let target = match roots.holding(path) {
        Some((root, beneath)) => readlinkat(root.directory(), beneath, Vec::new()),
        None => readlinkat(CWD, path, Vec::new()),
    };
    target.ok().map(|target| OsString::from_vec(target.into_bytes()))
}

fn too_many_links(roots: &Roots, path: &str, candidate: &Path) -> AccessError {
    if roots.holding(candidate).is_some() {
        AccessError::invalid(path, "it passes through too many symbolic links, perhaps in a loop")
    } else {
        roots.outside(path)
    }
}
