//! Git files that commands must not change, because Git could be made to run something.
//!
//! All other files in a Git directory are writable, or nobody could commit. An empty directory in place of some files
//! would upset Git, so those are protected only if they exist.

use std::path::{Path, PathBuf};

use sortie_policy::wall_names;
use sortie_sandbox::Workspace;
use sortie_tools::Repositories;

use super::exists;
use crate::resolve::permissions::git_files::{Obeyed, led_to};

/// Names within Git directories.
const CONFIG: &str = "config";
const HOOKS: &str = "hooks";

pub(super) fn kept(workspace: &Workspace, repositories: &Repositories, home: Option<&Path>) -> Vec<PathBuf> {
    let names = wall_names();
    let mut kept: Vec<PathBuf> = Vec::new();
    for git in &repositories.top {
        kept.extend(names.git_directories.iter().map(|name| git.join(name)));
    }
    let modules = repositories.modules.iter().filter(|module| exists(workspace, &module.join(CONFIG)));
    kept.extend(modules.map(|module| module.join(HOOKS)));
    let Repositories { top, modules, worktrees, nested, .. } = repositories;
    for git in top.iter().chain(modules).chain(worktrees).chain(nested) {
        let all = names.git_directories.iter().chain(names.git_others).map(|name| git.join(name));
        kept.extend(all.filter(|path| exists(workspace, path)));
    }
    for work_tree in [workspace.root()].into_iter().chain(workspace.added()) {
        kept.extend(led_to(workspace, work_tree, home).into_iter().filter_map(|obeyed| match obeyed {
            // The walls also protect the target of a protected link.
            Obeyed::Hooks(path) | Obeyed::Link(path) => Some(path),
            // Git ignores missing settings, but not a directory in their place.
            Obeyed::Settings(path) => Some(path).filter(|path| exists(workspace, path)),
        }));
    }
    kept
}
