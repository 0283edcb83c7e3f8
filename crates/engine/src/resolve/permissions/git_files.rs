//! Git's own files that no name shows. They are repositories in directories other than `.git`, and the hooks and
//! settings to which a repository or its user sends git.
//!
//! A change in one of them decides what the next git command runs. So each path that a tool is about to write is
//! compared with the directories above it, as they are at that moment.

use std::io::Read;
use std::path::{Path, PathBuf};

use sortie_mutant::is_out;
use sortie_protocol::file_name::spelled;
use sortie_sandbox::{Entries, FileKind, GitDirectory, Workspace, git_directory};

/// Names within git directories.
const CONFIG: &str = "config";
const HOOKS: &str = "hooks";
const COMMON: &str = "commondir";

/// Entries of a git directory that git obeys, or by which it knows such a directory.
const ENTRIES: [&str; 12] = [
    "HEAD",
    CONFIG,
    "config.worktree",
    COMMON,
    "gitdir",
    HOOKS,
    "info",
    "modules",
    "objects",
    "packed-refs",
    "refs",
    "worktrees",
];

/// Longest settings that are read.
const MAX_BYTES: u64 = 256 << 10;

/// A path to which git is sent, within the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Obeyed {
    Hooks(PathBuf),
    Settings(PathBuf),
    /// A link among the hooks: the link itself.
    Link(PathBuf),
}

/// Returns the kind of a path that git would obey, though its name does not show it: a noun phrase. The path is
/// resolved: relative to the root, or absolute.
pub fn obeyed_by_git(workspace: &Workspace, path: &Path, home: Option<&Path>) -> Option<String> {
    if is_out("gits-other-files") {
        return None;
    }
    let path = workspace.root().join(path);
    let top = [workspace.root()].into_iter().chain(workspace.added()).find(|top| path.starts_with(top))?;
    let above: Vec<&Path> = path.ancestors().skip(1).take_while(|directory| directory.starts_with(top)).collect();
    above.into_iter().find_map(|directory| {
        if is_gits_own(workspace, directory, &path) {
            return Some(format!("a git directory (`{}`)", shown(workspace, directory)));
        }
        led_to(workspace, directory, home).into_iter().find_map(|obeyed| {
            let (what, place) = match obeyed {
                Obeyed::Hooks(place) => ("git's hooks", place),
                Obeyed::Settings(place) => ("git's settings", place),
                Obeyed::Link(link) => ("git's hooks", target(workspace, &link)?),
            };
            path.starts_with(&place).then(|| format!("{what} (`{}`)", shown(workspace, &place)))
        })
    })
}

/// True if git takes the directory for a repository, or would once the path exists, and the path is one of its own.
fn is_gits_own(workspace: &Workspace, directory: &Path, path: &Path) -> bool {
    let Some(name) = path.strip_prefix(directory).ok().and_then(|inner| inner.components().next()) else {
        return false;
    };
    let name = name.as_os_str();
    if !ENTRIES.iter().any(|entry| name.eq_ignore_ascii_case(entry)) {
        return false;
    }
    let entries = workspace.read_dir(named(workspace, directory)).ok();
    let has = |entry: &str| name.eq_ignore_ascii_case(entry) || stands(entries.as_ref(), entry);
    has("HEAD") && (has(COMMON) || (has("objects") && has("refs")))
}

/// The path in the workspace to which a path leads, even if nothing is there.
fn target(workspace: &Workspace, path: &Path) -> Option<PathBuf> {
    Some(workspace.root().join(workspace.locate(&path.to_string_lossy()).ok()?))
}

fn stands(entries: Option<&Entries>, name: &str) -> bool {
    entries.is_some_and(|entries| entries.stamp(name.as_ref()).is_some())
}

/// Returns the paths in the workspace to which settings send git: those of the working tree and those of its user.
/// Links among its hooks are added. Git runs or obeys what is there. Other directories have none.
pub(crate) fn led_to(workspace: &Workspace, work_tree: &Path, home: Option<&Path>) -> Vec<Obeyed> {
    let Ok(Some(GitDirectory { own, common, .. })) = git_directory(work_tree) else { return Vec::new() };
    // A target that contains the work tree would close everything.
    let inside = |path: PathBuf| target(workspace, &path).filter(|path| !work_tree.starts_with(path));
    let mut found = Vec::new();
    let own_settings = [common.join(CONFIG), own.join("config.worktree")];
    let own_settings = own_settings.map(|config| (text_of(workspace, &config), config));
    let users = home
        .into_iter()
        .flat_map(|home| [".gitconfig", ".config/git/config"].map(|name| (text_at_home(home, name), home.join(name))));
    for (text, config) in own_settings.into_iter().chain(users) {
        let around = config.parent().unwrap_or(work_tree);
        found.extend(named_in(&text).into_iter().filter_map(|named| {
            Some(match named {
                Named::Hooks(path) => Obeyed::Hooks(inside(from(work_tree, &path, home))?),
                Named::Settings(path) => Obeyed::Settings(inside(from(around, &path, home))?),
            })
        }));
    }
    let hooks = common.join(HOOKS);
    if let Ok(entries) = workspace.read_dir(named(workspace, &hooks)) {
        let links = entries.flatten().filter(|entry| entry.kind == FileKind::Symlink);
        found.extend(links.map(|link| Obeyed::Link(hooks.join(link.name))));
    }
    found
}

/// A path named in git's settings.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Hooks(String),
    Settings(String),
}

/// Reads the paths in a git settings file, by plain parsing: one key a line, values with or without quotes.
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
    workspace.open_relative(named(workspace, path)).map(beginning).unwrap_or_default()
}

/// Reads a small file of the user's own as text; empty if there is none.
fn text_at_home(home: &Path, name: &str) -> String {
    let read = Workspace::open(home).ok().and_then(|home| home.read_whole(name, MAX_BYTES).ok());
    read.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

fn beginning(file: impl Read) -> String {
    let mut bytes = Vec::new();
    // Read errors leave what was read so far.
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the workspace's name of a path: relative to the root, absolute in an added directory.
fn named<'a>(workspace: &Workspace, path: &'a Path) -> &'a Path {
    path.strip_prefix(workspace.root()).unwrap_or(path)
}

fn shown(workspace: &Workspace, path: &Path) -> String {
    let name = named(workspace, path);
    if name.as_os_str().is_empty() { ".".to_owned() } else { spelled(name) }
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
