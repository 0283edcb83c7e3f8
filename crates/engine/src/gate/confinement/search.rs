//! A look at every name in the workspace, for what rules with wildcards mean there.

use std::path::{Path, PathBuf};

use sortie_sandbox::{FileKind, Workspace};

/// More names than this are not looked at: commands would wait for it.
const MAX_NAMES: usize = 1_000_000;

/// The paths that are wanted: relative to the root, absolute in an added directory. Nobody looks into one of them.
/// Links are names, too, and not followed. `None` if there is too much to look at. What cannot be listed by us cannot
/// be by a command either.
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
