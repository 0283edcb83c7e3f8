//! Search through every name in the workspace, for rules with wildcards.

use std::path::{Path, PathBuf};

use sortie_sandbox::{FileKind, Workspace};

/// Limit on names: beyond it commands would wait too long.
const MAX_NAMES: usize = 1_000_000;

/// Returns the wanted paths: relative to the root, absolute in an added directory. Does not look inside a wanted
/// directory, nor follow links, whose own names count. `None` if there are too many names. A directory that we cannot
/// list cannot be listed by a command either.
pub(super) fn search(workspace: &Workspace, is_wanted: impl Fn(&Path) -> bool) -> Option<Vec<PathBuf>> {
    let mut ahead: Vec<PathBuf> = workspace.added().map(Path::to_owned).chain([PathBuf::new()]).collect();
    let mut wanted = Vec::new();
    let mut seen = 0;
    while let Some(directory) = ahead.pop() {
        let Ok(entries) = workspace.read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_NAMES {
                return None;
            }
            let path = directory.join(&entry.name);
            if is_wanted(&path) {
                wanted.push(path);
            } else if entry.kind == FileKind::Directory {
                ahead.push(path);
            }
        }
    }
    Some(wanted)
}
