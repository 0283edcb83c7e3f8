use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sortie_sandbox::{GitDirectory, GitError, git_directory};

use super::repository::Repository;

fn found(root: &Path) -> GitDirectory {
    git_directory(root).unwrap().unwrap()
}

/// A repository, and its second working tree.
fn with_worktree() -> (Repository, PathBuf) {
    let repository = Repository::new();
    repository.git(&["worktree", "add", "-q", "../tree"]);
    let tree = repository.top.with_file_name("tree");
    (repository, tree)
}

#[test]
fn a_plain_repository_lies_in_the_working_tree() {
    let repository = Repository::new();
    let own = repository.path(".git");
    let expected = GitDirectory { own: own.clone(), common: own, is_confirmed: true };
    assert_eq!(found(&repository.top), expected);
    let link = repository.outside.join("link");
    symlink(&repository.top, &link).unwrap();
    assert_eq!(found(&link), expected);
    assert_eq!(git_directory(&repository.outside).unwrap(), None);
}

#[test]
fn a_second_working_tree_has_its_own_directory_and_a_common_one() {
    let (repository, tree) = with_worktree();
    let own = repository.path(".git/worktrees/tree");
    assert_eq!(found(&tree), GitDirectory { own, common: repository.path(".git"), is_confirmed: true });
}

#[test]
fn the_repository_of_another_working_tree_is_not_confirmed() {
    let (repository, tree) = with_worktree();
    let file = repository.outside.join(".git");
    fs::copy(tree.join(".git"), &file).unwrap();
    assert!(!found(&repository.outside).is_confirmed, "a copy");
    fs::remove_file(&file).unwrap();
    symlink(tree.join(".git"), &file).unwrap();
    assert!(!found(&repository.outside).is_confirmed, "a link");
    fs::remove_file(&file).unwrap();
    symlink(repository.path(".git"), &file).unwrap();
    assert!(!found(&repository.outside).is_confirmed, "a link to a directory");
}

#[test]
fn a_directory_that_claims_to_share_another_repository_is_not_confirmed() {
    let repository = Repository::new();
    let root = &repository.outside;
    fs::create_dir(root.join("fake")).unwrap();
    fs::write(root.join("fake/gitdir"), format!("{}/.git\n", root.display())).unwrap();
    fs::write(root.join("fake/commondir"), format!("{}\n", repository.path(".git").display())).unwrap();
    fs::write(root.join(".git"), "gitdir: fake\n").unwrap();
    let found = found(root);
    assert_eq!((&found.own, &found.common), (&root.join("fake"), &repository.path(".git")));
    assert!(!found.is_confirmed);
}

#[test]
fn a_repository_moved_elsewhere_by_hand_is_found_but_not_confirmed() {
    let repository = Repository::new();
    repository.git(&["init", "-q", "--separate-git-dir", "../outside/repository"]);
    let own = repository.outside.join("repository");
    assert_eq!(found(&repository.top), GitDirectory { own: own.clone(), common: own, is_confirmed: false });
}

#[test]
fn a_file_that_leads_nowhere_is_an_error() {
    let repository = Repository::new();
    let file = repository.outside.join(".git");
    for text in
        ["", "nonsense", "gitdir: ", "gitdir: a\ngitdir: b", "gitdir: ../absent", "gitdir: .git", &"x".repeat(10_000)]
    {
        fs::write(&file, text).unwrap();
        let result = git_directory(&repository.outside);
        assert!(matches!(result, Err(GitError::BadLink { .. })), "{text:?} {result:?}");
    }
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    assert!(matches!(git_directory(&repository.outside), Err(GitError::BadLink { .. })));
}
