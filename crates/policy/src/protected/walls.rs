//! Protected names as the walls around commands enforce them.
//!
//! Commands may do one thing more than editing tools: git must be able to work. Within a git directory the walls
//! protect only the files that could make git run something.

use std::path::{Component, Path, PathBuf};

use super::names::{GIT, HOOK};
use super::{Protected, protected};
use crate::text::fold;

/// Names that walls protect even before they exist, in their usual spelling. [`protected_from_commands`] finds those
/// that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallNames {
    /// Directories that an empty placeholder can protect.
    ///
    /// They are few: while a command runs, everybody sees the placeholder, editors included, and a program that expects
    /// a file finds a directory. For other protected names, a command's new files can only be detected afterwards.
    pub directories: &'static [&'static str],
    /// Entries of a git directory that an empty directory can stand in for.
    pub git_directories: &'static [&'static str],
    /// Other entries of a git directory, protected only if they exist.
    pub git_others: &'static [&'static str],
}

/// Directories read by this program, including those of the agent program whose files it understands.
const HELD: &[&str] = &[".sortie", ".claude"];
const HELD_IN_GIT: &[&str] = &["hooks", "config"];
const OTHERS_IN_GIT: &[&str] = &["config.worktree", "commondir", "info/attributes"];

const GIT_DIRECTORY: &str = ".git";

/// Directories in which git stores entries by the names of branches and objects.
const NAMED_BY_USERS: [&str; 3] = ["refs", "logs", "objects"];

pub fn wall_names() -> WallNames {
    WallNames { directories: HELD, git_directories: HELD_IN_GIT, git_others: OTHERS_IN_GIT }
}

/// Returns the kind of a path that no command may create or change. The path is taken literally, and `.git` as a
/// directory. If it is a file, it points to one, which the caller has to protect.
pub fn protected_from_commands(path: &Path) -> Option<Protected> {
    let is_git = |component: Component<'_>| fold(&component.as_os_str().to_string_lossy()) == GIT_DIRECTORY;
    let Some(at) = path.components().position(is_git) else { return protected(path) };
    let outer: PathBuf = path.components().take(at).collect();
    let inner: Vec<String> =
        path.components().skip(at + 1).map(|name| fold(&name.as_os_str().to_string_lossy()).into_owned()).collect();
    protected(&outer).or_else(|| in_repository(&inner))
}

/// Returns the kind of a path given from a repository's git directory.
fn in_repository(names: &[String]) -> Option<Protected> {
    match names {
        [kind, _, inner @ ..] if kind == "worktrees" => in_git_directory(inner),
        // A submodule's name may have slashes, so its directory can begin after any name but the first.
        [kind, _, inner @ ..] if kind == "modules" => {
            let users = inner.iter().position(|name| NAMED_BY_USERS.contains(&name.as_str()));
            let own = &inner[..users.unwrap_or(inner.len())];
            (0..own.len()).find_map(|start| in_git_directory(&own[start..]))
        }
        _ => in_git_directory(names),
    }
}

/// Returns the kind if an entry can make git run something, in the git directory of a repository, a worktree or a
/// submodule.
fn in_git_directory(names: &[String]) -> Option<Protected> {
    let begins = |known: &str| known.split('/').zip(names).filter(|(known, name)| known == name).count();
    let is = |known: &str| begins(known) == known.split('/').count();
    let name = HELD_IN_GIT.iter().chain(OTHERS_IN_GIT).find(|name| is(name))?;
    Some(Protected { what: if *name == "hooks" { HOOK } else { GIT }, name })
}
