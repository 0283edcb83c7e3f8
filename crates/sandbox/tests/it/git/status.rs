use std::fs;
use std::os::unix::fs::MetadataExt;

use sortie_sandbox::{GitError, GitStatus};

use super::repository::{Repository, git};

#[test]
fn the_status_has_branch_commit_and_changes() {
    let repository = Repository::new();
    let commit = Some(repository.git(&["rev-parse", "HEAD"]));
    let clean = GitStatus { branch: Some("main".into()), commit, changed: 0, untracked: 0 };
    assert_eq!(git().status(&repository.top).unwrap(), clean);
    repository.git(&["mv", "file", "renamed"]);
    repository.put("odd \u{1b}\nname", "");
    repository.put("directory/one", "");
    repository.put("directory/two", "");
    let changed = GitStatus { changed: 1, untracked: 2, ..clean.clone() };
    assert_eq!(git().status(&repository.top).unwrap(), changed);
    repository.git(&["checkout", "-q", "--detach"]);
    assert_eq!(git().status(&repository.top).unwrap().branch, None);
    repository.git(&["checkout", "-q", "--orphan", "empty"]);
    let unborn = git().status(&repository.top).unwrap();
    assert_eq!((unborn.branch, unborn.commit), (Some("empty".into()), None));
}

#[test]
fn a_status_changes_nothing() {
    let repository = Repository::new();
    repository.touch("file");
    let index = repository.path(".git/index");
    let before = (fs::read(&index).unwrap(), fs::metadata(&index).unwrap().ino());
    assert_eq!(git().status(&repository.top).unwrap().changed, 0);
    assert_eq!((fs::read(&index).unwrap(), fs::metadata(&index).unwrap().ino()), before);
}

#[test]
fn the_working_tree_is_the_given_one_not_the_one_in_the_configuration() {
    let repository = Repository::new();
    fs::write(repository.outside.join("secret"), "").unwrap();
    repository.set("core.worktree", repository.outside.to_str().unwrap());
    assert!(repository.git(&["status", "--porcelain"]).contains("?? secret"), "plain git goes there");
    let status = git().status(&repository.top).unwrap();
    assert_eq!((status.changed, status.untracked), (0, 0));
}

#[test]
fn a_second_working_tree_is_created_and_compared_like_the_first() {
    let repository = Repository::new();
    git().run(&repository.top, &["worktree", "add", "-q", "-b", "other", "../tree"]).unwrap();
    let tree = repository.top.with_file_name("tree");
    fs::write(tree.join("file"), "other\n").unwrap();
    let status = git().status(&tree).unwrap();
    assert_eq!((status.branch.as_deref(), status.changed), (Some("other"), 1));
}

#[test]
fn settings_of_the_user_do_not_count() {
    let repository = Repository::new();
    repository.set("status.showUntrackedFiles", "no");
    repository.put("new", "");
    assert_eq!(git().status(&repository.top).unwrap().untracked, 1);
}

#[test]
fn a_directory_without_a_repository_is_reported() {
    let repository = Repository::new();
    for (directory, words) in [("outside", "is not a git repository"), ("absent", "cannot be used")] {
        let error = git().status(&repository.top.with_file_name(directory)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let failed = git().run(&repository.top, &["checkout", "nowhere"]).unwrap_err();
    assert!(matches!(&failed, GitError::Failed { .. }) && failed.to_string().contains("nowhere"), "{failed}");
}
