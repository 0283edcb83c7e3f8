//! What stays as it is although it lies in something writable.
//!
//! A mount keeps its own place from being changed, moved or removed, but not the directories that lead to it: those
//! could be moved away, and others put in their place. So each of them becomes a mount as well. What does not exist has
//! a placeholder by now.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};

use super::placeholder::is_placeholder;
use super::view::{copy_of, cover, cover_with_blank, place};
use crate::process::plan::Plan;
use crate::process::report::{During, Failure};

pub(super) fn all(plan: &Plan) -> Result<(), Failure> {
    let mut done = HashSet::new();
    for path in &plan.protected {
        if let Some((root, beneath)) = plan.exposed(path) {
            protect(root, beneath, &mut done)?;
        }
    }
    Ok(())
}

/// Protects what is `beneath` a writable `root`, or the link that is on the way to it. Where the link leads is protected
/// by a path of its own.
fn protect(root: &Path, beneath: &Path, done: &mut HashSet<PathBuf>) -> Result<(), Failure> {
    let mut path = root.to_owned();
    let mut rest = beneath.components();
    loop {
        let component = rest.next();
        path.extend(component);
        let is_last = rest.as_path().as_os_str().is_empty();
        let protecting = || format!("protecting {}", path.display());
        let found = place(&path)?;
        let stat = fstat(&found).during(protecting)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Symlink {
            if done.insert(path.clone()) {
                cover_link(&path, &found).during(protecting)?;
            }
            return Ok(());
        }
        let ends = is_last || kind != FileType::Directory || is_placeholder(&stat);
        if done.insert(path.clone()) {
            cover(&copy_of(&found, ends).during(protecting)?, &found).during(protecting)?;
        }
        if ends {
            return Ok(());
        }
    }
}

/// A link to a file shows that file; any other link leads nowhere, since no directory can be laid over it.
fn cover_link(path: &Path, link: &rustix::fd::OwnedFd) -> std::io::Result<()> {
    let target = fs::canonicalize(path).ok().filter(|target| target.is_file());
    match target.and_then(|target| place(&target).ok()) {
        Some(target) => cover(&copy_of(&target, true)?, link),
        None => cover_with_blank(link),
    }
}
