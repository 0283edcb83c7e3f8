//! Git files that commands must not change, because Git could be made to run something.
//!
//! All other files in a Git directory are writable, or nobody could commit. An empty directory in place of some files
//! would upset Git, so those are protected only if they exist.

use std::io::Read;
use std::path::{Path, PathBuf};

use sortie_policy::wall_names;
use sortie_sandbox::{FileKind, GitDirectory, Workspace, git_directory};
use sortie_tools::Repositories;

use super::{exists, named};

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
        kept.extend(led_to(workspace, work_tree, home));
    }
    kept
}

/// Returns the targets of a repository's settings and hooks: whatever is run or obeyed there belongs to the repository.
fn led_to(workspace: &Workspace, work_tree: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Ok(Some(GitDirectory { own, common, .. })) = git_directory(work_tree) else { return Vec::new() };
    let mut found = Vec::new();
    for config in [common.join(CONFIG), own.join("config.worktree")] {
        let around = config.parent().unwrap_or(work_tree);
        for named in named_in(&text_of(workspace, &config)) {
            let (path, is_kept_absent) = match named {
                Named::Hooks(path) => (from(work_tree, &path, home), true),
                // Git ignores missing settings, but not a directory in their place.
                Named::Settings(path) => (from(around, &path, home), false),
            };
            // Commands cannot write outside the workspace anyway; and a target that contains the work tree would close
            // everything.
            let inside = workspace.locate(&path.to_string_lossy()).map(|path| workspace.root().join(path));
            let is_kept = |path: &PathBuf| !work_tree.starts_with(path) && (is_kept_absent || exists(workspace, path));
            found.extend(inside.ok().filter(is_kept));
        }
    }
    let hooks = common.join(HOOKS);
    if let Ok(entries) = workspace.read_dir(named(workspace, &hooks)) {
        let links = entries.flatten().filter(|entry| entry.kind == FileKind::Symlink);
        // The walls also protect the target of a protected link.
        found.extend(links.map(|link| hooks.join(link.name)));
    }
    found
}

/// A path named in Git's settings.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Hooks(String),
    Settings(String),
}

/// Reads the paths in a Git settings file, by plain parsing: one key a line, values with or without quotes.
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

/// Reads the beginning of a regular workspace file as text; empty if there is none.
fn text_of(workspace: &Workspace, path: &Path) -> String {
    const MAX_BYTES: u64 = 256 << 10;
    let mut bytes = Vec::new();
    if let Ok(file) = workspace.open_relative(named(workspace, path)) {
        // Read errors leave what was read so far.
        file.take(MAX_BYTES).read_to_end(&mut bytes).ok();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_settings_are_found_in_any_spelling() {
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
