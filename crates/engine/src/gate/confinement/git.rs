//! What commands leave alone of git directories: that by which git can be made to run something.
//!
//! All else in there is theirs, or nobody could commit. Git would stumble over an empty directory in the place of some
//! files; those are kept where they exist.

use std::io::Read;
use std::path::{Path, PathBuf};

use sortie_policy::wall_names;
use sortie_sandbox::{FileKind, GitDirectory, Workspace, git_directory};
use sortie_tools::Repositories;

use super::{exists, named};

/// What git directories have in them of their own.
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
        kept.extend(led_to(workspace, work_tree, home));
    }
    kept
}

/// Where the settings and hooks of a working tree's repository lead: what is run or obeyed there is the repository's.
fn led_to(workspace: &Workspace, work_tree: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Ok(Some(GitDirectory { own, common, .. })) = git_directory(work_tree) else { return Vec::new() };
    let mut found = Vec::new();
    for config in [common.join(CONFIG), own.join("config.worktree")] {
        let around = config.parent().unwrap_or(work_tree);
        for named in named_in(&text_of(workspace, &config)) {
            let (path, is_kept_absent) = match named {
                Named::Hooks(path) => (from(work_tree, &path, home), true),
                // Git passes over settings that are not there, but not over a directory in their place.
                Named::Settings(path) => (from(around, &path, home), false),
            };
            // One that leads out of the workspace is written by no command; to keep one around it would close
            // everything.
            let inside = workspace.locate(&path.to_string_lossy()).map(|path| workspace.root().join(path));
            let is_kept = |path: &PathBuf| !work_tree.starts_with(path) && (is_kept_absent || exists(workspace, path));
            found.extend(inside.ok().filter(is_kept));
        }
    }
    let hooks = common.join(HOOKS);
    if let Ok(entries) = workspace.read_dir(named(workspace, &hooks)) {
        let links = entries.flatten().filter(|entry| entry.kind == FileKind::Symlink);
        // The walls also keep what a protected link leads to.
        found.extend(links.map(|link| hooks.join(link.name)));
    }
    found
}

/// A path that settings name.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Hooks(String),
    Settings(String),
}

/// What a file of git's settings names, as far as a plain reading tells: a key to a line, values in quotes or not.
fn named_in(text: &str) -> Vec<Named> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let mut setting = line;
        if let Some((head, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            section = head.split([' ', '"', '.']).next().unwrap_or_default().to_ascii_lowercase();
            setting = rest;
        }
        let Some((key, value)) = setting.split_once('=') else { continue };
        let value = value.trim().trim_matches('"').to_owned();
        match (section.as_str(), key.trim().to_ascii_lowercase().as_str()) {
            ("core", "hookspath") => found.push(Named::Hooks(value)),
            ("include" | "includeif", "path") => found.push(Named::Settings(value)),
            _ => {}
        }
    }
    found
}

fn from(base: &Path, path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(path),
    }
}

/// The beginning of a regular file of the workspace, as text; empty where there is none.
fn text_of(workspace: &Workspace, path: &Path) -> String {
    const MAX_BYTES: u64 = 256 << 10;
    let mut bytes = Vec::new();
    if let Ok(file) = workspace.open_relative(named(workspace, path)) {
        // As much of it as can be read.
        file.take(MAX_BYTES).read_to_end(&mut bytes).ok();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_settings_are_found_however_they_are_spelled() {
        let text = "[core]\n\tbare = false\n\thooksPath = .husky/_\n[Core] HooksPath=\"my hooks\"\n[include]\n path = ../a\n\
                    [includeIf \"gitdir:~/x\"]\npath = ~/b\n[remote \"x\"]\npath = no\n; [core]\n";
        let expected = [
            Named::Hooks(".husky/_".to_owned()),
            Named::Hooks("my hooks".to_owned()),
            Named::Settings("../a".to_owned()),
            Named::Settings("~/b".to_owned()),
        ];
        assert_eq!(named_in(text), expected);
        assert_eq!(from(Path::new("/w"), "~/b", Some(Path::new("/people"))), Path::new("/people/b"));
    }
}
