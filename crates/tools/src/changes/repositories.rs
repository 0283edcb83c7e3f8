//! Git directories that a command could write in.
//!
//! Git runs what some of their files say, so the walls protect those files. `sortie-policy` knows these files; this
//! module finds the directories, without asking git.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sortie_sandbox::{FileKind, GitDirectory, Workspace, git_directory};

use super::snapshot::{IN_GIT_DIRECTORIES, TreeSnapshot};
use crate::port::shell_reach::Repositories;

/// Maximum number of protected repositories elsewhere in the tree. Each takes some mounts.
const MAX_NESTED: usize = 500;
/// Maximum number of names examined for submodules and other working trees.
const MAX_NAMES: usize = 20_000;

/// Returns the repositories that a snapshot found, and those they lead to, if inside one of the `writable` directories.
pub(super) fn find_repositories(workspace: &Workspace, writable: &[PathBuf], snapshot: &TreeSnapshot) -> Repositories {
    let root = workspace.root();
    let mut found = Repositories::default();
    for top in [root].into_iter().chain(workspace.added()) {
        found.top.extend(both(top).filter(|path| is_in(writable, path)));
    }
    distinct(&mut found.top);
    for top in &found.top {
        let top = named(workspace, top);
        found.modules.extend(submodules(workspace, &top.join("modules"), &mut found.lack));
        found.worktrees.extend(directories(workspace, &top.join("worktrees")));
    }
    let led_to = snapshot.work_trees.iter().flat_map(|tree| both(&root.join(tree)));
    let nested = led_to.chain(snapshot.bare.iter().map(|path| root.join(path)));
    found.nested = nested.filter(|path| is_in(writable, path) && !knows(&found, path)).collect();
    distinct(&mut found.nested);
    if found.nested.len() > MAX_NESTED {
        found.nested.truncate(MAX_NESTED);
        found.lack = Some(format!("there are more than {MAX_NESTED} repositories in the tree"));
    }
    found
}

/// Merges repositories without duplicates. Keeps only the first one's lack.
pub(super) fn united(mut repositories: Repositories, others: &Repositories) -> Repositories {
    let Repositories { top, modules, worktrees, nested, .. } = others;
    for (own, others) in [
        (&mut repositories.top, top),
        (&mut repositories.modules, modules),
        (&mut repositories.worktrees, worktrees),
        (&mut repositories.nested, nested),
    ] {
        own.extend(others.iter().cloned());
        distinct(own);
    }
    repositories
}

fn knows(repositories: &Repositories, path: &Path) -> bool {
    let Repositories { top, modules, worktrees, .. } = repositories;
    [top, modules, worktrees].iter().any(|known| known.iter().any(|known| known == path))
}

/// Returns the git directory of a working tree and the one it shares with others. A broken link yields none: git finds
/// nothing there either.
fn both(work_tree: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let found = git_directory(work_tree).ok().flatten();
    found.into_iter().flat_map(|GitDirectory { own, common, .. }| [own, common])
}

fn is_in(writable: &[PathBuf], path: &Path) -> bool {
    writable.iter().any(|place| path.starts_with(place))
}

fn distinct(paths: &mut Vec<PathBuf>) {
    paths.sort_unstable();
    paths.dedup();
}

/// Returns the path as the workspace names it: relative to the root, absolute in an added directory.
pub(super) fn named(workspace: &Workspace, path: &Path) -> PathBuf {
    path.strip_prefix(workspace.root()).unwrap_or(path).to_owned()
}

/// Returns every directory in which a submodule's repository may begin, by absolute path. Names of submodules may have
/// slashes.
fn submodules(workspace: &Workspace, modules: &Path, lack: &mut Option<String>) -> Vec<PathBuf> {
    /// Directories with names of objects and branches, or without repositories.
    const CLOSED: [&str; 5] = ["objects", "refs", "logs", "hooks", "info"];
    let mut found = Vec::new();
    let mut ahead = vec![modules.to_owned()];
    while let Some(directory) = ahead.pop() {
        let is_closed = |path: &PathBuf| CLOSED.iter().any(|name| path.file_name() == Some(OsStr::new(name)));
        let inner = directories(workspace, &directory).into_iter().filter(|path| !is_closed(path));
        for path in inner {
            ahead.push(named(workspace, &path));
            found.push(path);
        }
        if found.len() > MAX_NAMES {
            *lack = Some("there are too many submodules".to_owned());
            break;
        }
    }
    found
}

/// Returns the subdirectories of a directory by absolute path, up to a bound.
fn directories(workspace: &Workspace, path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = workspace.read_dir(path) else { return Vec::new() };
    let directories = entries.take(MAX_NAMES).flatten().filter(|entry| entry.kind == FileKind::Directory);
    directories.map(|entry| workspace.root().join(path).join(entry.name)).collect()
}

/// True if git would take the workspace root for a repository that commands can write in.
pub(super) fn is_repository(workspace: &Workspace, repositories: &Repositories) -> bool {
    let Ok(Some(GitDirectory { own, common, .. })) = git_directory(workspace.root()) else { return false };
    let in_reach = |path: &Path| repositories.top.iter().any(|top| top == path);
    in_reach(&own)
        && has(workspace, &own, &["HEAD"])
        && in_reach(&common)
        && has(workspace, &common, &["objects", "refs"])
}

/// True if a directory itself looks like a git directory.
pub(super) fn is_bare(workspace: &Workspace, directory: &Path) -> bool {
    has(workspace, directory, &IN_GIT_DIRECTORIES)
}

fn has(workspace: &Workspace, directory: &Path, names: &[&str]) -> bool {
    let Ok(entries) = workspace.read_dir(&named(workspace, directory)) else { return false };
    names.iter().all(|name| entries.stamp(name.as_ref()).is_some())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// A directory with these files; its subdirectory `work` is the workspace.
    fn place(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        fs::create_dir(top.join("work")).unwrap();
        for (file, text) in files {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), text).unwrap();
        }
        (directory, top)
    }

    /// The repositories found if the whole workspace is writable, relative to `top`.
    fn found(top: &Path) -> [Vec<String>; 4] {
        let root = top.join("work");
        let workspace = Workspace::open(&root).unwrap();
        let snapshot = TreeSnapshot::take(&workspace, &[PathBuf::new()], &CancellationToken::new());
        let Repositories { top: own, mut modules, worktrees, nested, lack } =
            find_repositories(&workspace, &[root], &snapshot);
        assert_eq!(lack, None);
        modules.sort();
        let name = |path: &PathBuf| path.strip_prefix(top).unwrap().display().to_string();
        [own, modules, worktrees, nested].map(|paths| paths.iter().map(name).collect())
    }

    const BARE: [(&str, &str); 3] = [("work/.bare/HEAD", ""), ("work/.bare/objects/x", ""), ("work/.bare/refs/x", "")];

    #[test]
    fn submodules_working_trees_and_nested_repositories_are_found() {
        let (_directory, top) = place(&[
            ("work/.git/HEAD", ""),
            ("work/.git/modules/libs/a/HEAD", ""),
            ("work/.git/modules/libs/a/modules/b/HEAD", ""),
            ("work/.git/modules/libs/a/objects/no/HEAD", ""),
            ("work/.git/worktrees/t/HEAD", ""),
            ("work/lib/.git/HEAD", ""),
            ("work/libs/a/.git", "gitdir: ../../.git/modules/libs/a"),
            ("work/.gitignore", "vendor"),
            ("work/vendor/x/.git/HEAD", ""),
        ]);
        let modules = ["libs", "libs/a", "libs/a/modules", "libs/a/modules/b"];
        assert_eq!(
            found(&top),
            [
                vec!["work/.git".to_owned()],
                modules.map(|name| format!("work/.git/modules/{name}")).to_vec(),
                vec!["work/.git/worktrees/t".to_owned()],
                vec!["work/lib/.git".to_owned()],
            ]
        );
    }

    #[test]
    fn a_file_that_points_to_a_repository_is_followed_if_it_is_writable() {
        let (_directory, top) = place(
            &[
                &BARE[..],
                &[
                    ("work/.git", "gitdir: .bare"),
                    ("work/main/.git", "gitdir: ../.bare/worktrees/main"),
                    ("work/.bare/worktrees/main/commondir", "../.."),
                    ("work/sub/.git", "gitdir: ../../elsewhere"),
                    ("elsewhere/HEAD", ""),
                ],
            ]
            .concat(),
        );
        let [own, _, worktrees, nested] = found(&top);
        assert_eq!(
            (own, worktrees, nested),
            (vec!["work/.bare".to_owned()], vec!["work/.bare/worktrees/main".to_owned()], vec![],)
        );
    }

    #[test]
    fn a_git_directory_with_another_name_is_found_without_a_pointer() {
        let (_directory, top) = place(&BARE);
        assert_eq!(found(&top)[3], ["work/.bare"]);
    }
}
