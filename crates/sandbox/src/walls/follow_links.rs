//! Follows all links of a path, also of one that leads to what does not exist yet.

use std::fs;
use std::path::{Path, PathBuf};

/// The path that a path leads to through all links, also through those that lead to what does not exist yet: a
/// workspace can be named through a link, and so can what is protected.
pub(crate) fn follow_links(path: &Path) -> PathBuf {
    /// More are a circle, which leads nowhere.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some((existing, missing)) = split(&path) else { break };
        let mut names = missing.components();
        let Some(link) = names.next().and_then(|name| fs::read_link(existing.join(name)).ok()) else {
            // Put together anew, without the slash that joining with nothing adds.
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
