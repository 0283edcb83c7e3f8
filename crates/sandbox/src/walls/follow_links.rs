//! Follows all links of a path, even if the target does not exist yet.

use std::fs;
use std::path::{Path, PathBuf};

/// Resolves all links of a path, even those to targets that do not exist yet. Both the workspace and a protected path
/// may be named through a link.
pub(crate) fn follow_links(path: &Path) -> PathBuf {
    /// More than this is a loop, which leads nowhere.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some((existing, missing)) = split(&path) else { break };
        let mut names = missing.components();
        let Some(link) = names.next().and_then(|name| fs::read_link(existing.join(name)).ok()) else {
            // Rebuilt to remove the slash that joining with nothing adds.
            return existing.join(missing).components().collect();
        };
        path = existing.join(link).join(names.as_path());
    }
    path
}

/// The part of a path that exists, resolved, and the rest.
fn split(path: &Path) -> Option<(PathBuf, PathBuf)> {
    path.ancestors().find_map(|ancestor| {
        let missing = path.strip_prefix(ancestor).ok()?;
        Some((ancestor.canonicalize().ok()?, missing.to_owned()))
    })
}
