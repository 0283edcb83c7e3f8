//! Bare repositories within a working tree: directories that anyone can commit, with a configuration inside.

use std::process::Command;

use sortie_sandbox::GitError;

use super::repository::{Repository, git};

/// A bare repository that claims the whole working tree, and a canary.
fn with_nested() -> Repository {
    let repository = Repository::new();
    repository.git(&["init", "-q", "--bare", "nested"]);
    for (name, value) in [("core.bare", "false"), ("core.worktree", ".."), ("core.fsmonitor", &repository.canary())] {
        repository.git(&["--git-dir", "nested", "config", name, value]);
    }
    repository
}

#[test]
fn s34_a_nested_bare_repository_does_not_count() {
    let repository = with_nested();
    let plain = |arguments: &[&str]| -> Command {
        let mut command = repository.plain(arguments);
        command.current_dir(repository.path("nested"));
        command
    };
    plain(&["status"]).output().unwrap();
    assert!(repository.has_canary_run(), "the trap does not work");
    let repository = with_nested();
    for arguments in [&["status"][..], &["rev-parse", "--git-dir"], &["worktree", "list"]] {
        let answer = git().run(&repository.path("nested"), arguments);
        assert!(matches!(answer, Err(GitError::NoRepository { .. })), "{answer:?}");
    }
    assert!(!repository.has_canary_run());
    assert_eq!(git().status(&repository.top).unwrap().untracked, 1, "the one around it is not disturbed");
}

#[test]
fn no_repository_is_looked_for_above() {
    let repository = Repository::new();
    repository.put("below/file", "");
    let answer = git().run(&repository.path("below"), &["rev-parse", "--show-toplevel"]);
    assert!(matches!(answer, Err(GitError::NoRepository { .. })), "{answer:?}");
}
