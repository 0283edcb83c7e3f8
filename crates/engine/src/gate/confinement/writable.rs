//! Writable directories of commands: those in a grant that exist under exactly that name.

use std::path::{Path, PathBuf};

use sortie_policy::{Confinement, protected};
use sortie_sandbox::{AccessError, FileKind, Workspace};
use sortie_tools::Writable;

/// Returns the directories that can be opened up. Creates a missing one if a rule names it as a directory.
pub(super) fn among(workspace: &Workspace, confinement: &Confinement<'_>, directories: Vec<PathBuf>) -> Writable {
    let mut writable = Writable::default();
    for path in directories {
        match usable(workspace, confinement, &path) {
            // Without the trailing slash of a join with nothing.
            Ok(true) => writable.directories.push(workspace.root().join(path).components().collect()),
            Ok(false) => {}
            Err(why) => writable.notes.push(format!("commands cannot write to `{}`: {why}", path.display())),
        }
    }
    writable
}

/// Returns true if commands can write there, or the reason why not, if a person would expect it.
fn usable(workspace: &Workspace, confinement: &Confinement<'_>, path: &Path) -> Result<bool, String> {
    if let Some(protected) = protected(beneath_its_top(workspace, path)) {
        return Err(format!("it is {protected}, which no agent may change"));
    }
    match workspace.resolve(&workspace.root().join(path).to_string_lossy()) {
        Ok(found) if found.relative != path => {
            // Anybody who can change the link could open up any directory.
            Err(format!("it leads through a link to `{}`; name that path in the rule", found.relative.display()))
        }
        // Single files are for the editing tools.
        Ok(found) => Ok(found.kind == FileKind::Directory),
        Err(AccessError::NotFound { .. }) if confinement.names_directory(path) => {
            workspace.make_directory(path).map(|()| true).map_err(|error| error.to_string())
        }
        Err(AccessError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the path relative to the root or to its added directory.
fn beneath_its_top<'a>(workspace: &Workspace, path: &'a Path) -> &'a Path {
    workspace.added().find_map(|added| path.strip_prefix(added).ok()).unwrap_or(path)
}
