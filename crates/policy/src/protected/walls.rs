//! Protected names as the walls around commands keep them.
//!
//! Commands may do more than editing tools in one respect: git must be able to do its work. Of a git directory the
//! walls keep only what could make git run something.

use std::path::{Component, Path, PathBuf};

use super::names::{GIT, HOOK};
use super::{Protected, protected};
use crate::text::fold;

/// The names that walls keep from commands even where nothing has them, as they are usually spelled. All that exists is
/// found by [`protected_from_commands`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallNames {
    /// Directories for which an empty one can stand.
    ///
    /// They are few: everybody sees what stands there while a command runs, editors among them, and who looks for a
    /// file of that name finds a directory. What a command makes under another protected name can only be told after
    /// it.
    pub directories: &'static [&'static str],
    /// What is in a git directory and can be stood for by an empty directory.
    pub git_directories: &'static [&'static str],
    /// The rest of what is in a git directory: kept where it exists.
    pub git_others: &'static [&'static str],
}

/// What this program reads, and that whose files it reads, too.
const HELD: &[&str] = &[".sortie", ".claude"];
const HELD_IN_GIT: &[&str] = &["hooks", "config"];
const OTHERS_IN_GIT: &[&str] = &["config.worktree", "commondir", "info/attributes"];

const GIT_DIRECTORY: &str = ".git";

/// Directories of git's own, in which names are those of branches and objects.
const NAMED_BY_USERS: [&str; 3] = ["refs", "logs", "objects"];

pub fn wall_names() -> WallNames {
    WallNames { directories: HELD, git_directories: HELD_IN_GIT, git_others: OTHERS_IN_GIT }
}

/// Says what a path is if no command may make or change it. The path is taken as it stands, and `.git` as a directory:
/// where it is a file, it leads to one, and the caller has to keep it.
pub fn protected_from_commands(path: &Path) -> Option<Protected> {
    let is_git = |component: Component<'_>| fold(&component.as_os_str().to_string_lossy()) == GIT_DIRECTORY;
    let Some(at) = path.components().position(is_git) else { return protected(path) };
    let outer: PathBuf = path.components().take(at).collect();
    let inner: Vec<String> =
        path.components().skip(at + 1).map(|name| fold(&name.as_os_str().to_string_lossy()).into_owned()).collect();
    protected(&outer).or_else(|| in_repository(&inner))
}

/// What a path is that starts in a repository's git directory.
fn in_repository(names: &[String]) -> Option<Protected> {
    match names {
        [kind, _, inner @ ..] if kind == "worktrees" => in_git_directory(inner),
        // A submodule's name may have slashes, so that its directory can begin behind any name but the first.
        [kind, _, inner @ ..] if kind == "modules" => {
            let users = inner.iter().position(|name| NAMED_BY_USERS.contains(&name.as_str()));
            let own = &inner[..users.unwrap_or(inner.len())];
            (0..own.len()).find_map(|start| in_git_directory(&own[start..]))
        }
        _ => in_git_directory(names),
    }
}

/// What makes git run something, in the git directory of a repository, of a worktree or of a submodule.
fn in_git_directory(names: &[String]) -> Option<Protected> {
    let begins = |known: &str| known.split('/').zip(names).filter(|(known, name)| known == name).count();
    let is = |known: &str| begins(known) == known.split('/').count();
    let name = HELD_IN_GIT.iter().chain(OTHERS_IN_GIT).find(|name| is(name))?;
    Some(Protected { what: if *name == "hooks" { HOOK } else { GIT }, name })
}
