use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use sortie_sandbox::{Git, GitError};

use super::repository::{Repository, write_program};

#[test]
fn s26_a_git_in_the_workspace_is_never_used() {
    let repository = Repository::new();
    let own = repository.path("bin/git");
    repository.canary_program(&own);
    let link = repository.outside.join("git");
    symlink(&own, &link).unwrap();
    for directory in [own.parent().unwrap(), link.parent().unwrap(), Path::new("bin"), Path::new("")] {
        let mut path = OsString::from(directory);
        path.push(":/usr/bin:/bin");
        let git = Git::find(Some(&path), &[&repository.top]).unwrap();
        assert!(git.program().is_absolute() && !git.program().starts_with(&repository.top), "{git:?}");
        git.status(&repository.top).unwrap();
    }
    assert!(!repository.has_canary_run());
    // The result of a search along such a PATH.
    let status = Command::new("git").arg("status").env("PATH", own.parent().unwrap()).status().unwrap();
    assert!(repository.has_canary_run(), "the trap does not work: {status:?}");
}

/// The system's program directories; with these untrusted, only the user's `PATH` is left.
const SYSTEM: [&str; 3] = ["/bin", "/sbin", "/usr"];

#[test]
fn s26_if_every_git_is_untrusted_there_is_none() {
    let repository = Repository::new();
    repository.canary_program(&repository.path("bin/git"));
    symlink(repository.path("bin/git"), repository.outside.join("git")).unwrap();
    let mut untrusted = SYSTEM.map(Path::new).to_vec();
    untrusted.push(&repository.top);
    for directory in [repository.path("bin"), repository.outside.clone(), "bin".into()] {
        let found = Git::find(Some(directory.as_os_str()), &untrusted);
        assert!(matches!(found, Err(GitError::NotFound)), "{found:?}");
    }
    assert!(!repository.has_canary_run());
}

#[test]
fn a_git_of_the_user_is_found_and_must_be_new_enough() {
    let repository = Repository::new();
    let find = |name: &str, words: &str| {
        let directory = repository.outside.join(name);
        write_program(&directory.join("git"), &format!("echo {words}"));
        Git::find(Some(directory.as_os_str()), &SYSTEM.map(Path::new))
    };
    let new = find("new", "git version 2.99.1").unwrap();
    assert_eq!((new.program(), new.version().minor), (&*repository.outside.join("new/git"), 99));
    let old = find("old", "git version 2.37.9").unwrap_err();
    assert!(old.to_string().ends_with("too old to be called safely; install git 2.38.0 or later"), "{old}");
    assert!(matches!(find("other", "BusyBox"), Err(GitError::UnknownVersion { .. })));
}

#[test]
fn the_version_is_the_one_git_prints() {
    let git = Git::find(None, &[]).unwrap();
    let output = Command::new(git.program()).arg("version").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains(&git.version().to_string()), "{git:?}");
}
