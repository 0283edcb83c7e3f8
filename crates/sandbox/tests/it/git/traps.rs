//! Settings and files whose names git itself defines: they are pinned, and git does its work without them.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sortie_sandbox::GitError;

use super::repository::{Repository, git};

/// Prepares a repository twice: with plain git the canary must run, with ours it must not. Returns the result of ours.
pub(super) fn spring(prepare: impl Fn(&Repository), arguments: &[&str]) -> Result<String, GitError> {
    let repository = Repository::new();
    prepare(&repository);
    let output = repository.plain(arguments).output().unwrap();
    assert!(repository.has_canary_run(), "the trap does not work: {arguments:?} {output:?}");
    let repository = Repository::new();
    prepare(&repository);
    let answer = git().run(&repository.top, arguments);
    assert!(!repository.has_canary_run(), "{arguments:?} {answer:?}");
    answer
}

#[test]
fn s32_the_file_system_monitor_does_not_run() {
    let answer =
        spring(|repository| repository.set("core.fsmonitor", &repository.canary()), &["status", "--porcelain"]);
    assert_eq!(answer.unwrap(), "");
}

#[test]
fn s32_hooks_do_not_run_wherever_they_are() {
    let checkout = ["checkout", "-q", "-b", "other"];
    let hooks = |repository: &Repository| repository.canary_program(&repository.path(".git/hooks/post-checkout"));
    assert_eq!(spring(hooks, &checkout).unwrap(), "");
    let elsewhere = |repository: &Repository| {
        repository.canary_program(&repository.outside.join("hooks/post-checkout"));
        repository.set("core.hooksPath", repository.outside.join("hooks").to_str().unwrap());
    };
    assert_eq!(spring(elsewhere, &checkout).unwrap(), "");
    let looking = |repository: &Repository| {
        repository.canary_program(&repository.path(".git/hooks/post-index-change"));
        repository.touch("file");
    };
    assert_eq!(spring(looking, &["status", "--porcelain"]).unwrap(), "");
}

#[test]
fn s32_signatures_are_not_checked_by_a_program_of_the_repository() {
    let signed = |repository: &Repository| {
        let commit = repository.git(&["cat-file", "commit", "HEAD"]);
        let (head, message) = commit.split_once("\n\n").unwrap();
        let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
        let file = repository.outside.join("commit");
        fs::write(&file, format!("{head}\n{signature}\n\n{message}\n")).unwrap();
        let commit = repository.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
        repository.git(&["update-ref", "HEAD", &commit]);
        let program = repository.outside.join("gpg");
        repository.canary_program(&program);
        repository.set("gpg.program", program.to_str().unwrap());
        repository.set("log.showSignature", "true");
    };
    assert_eq!(spring(signed, &["log", "-1", "--format=%s"]).unwrap(), "first\n");
}

#[test]
fn s32_differences_are_not_shown_by_a_program_of_the_repository() {
    let external = |repository: &Repository| {
        repository.set("diff.external", &repository.canary());
        repository.put("file", "second\n");
    };
    let answer = spring(external, &["diff", "--numstat", "-p"]).unwrap();
    assert!(answer.contains("+second"), "{answer}");
}

#[test]
fn s32_the_pager_does_not_run() {
    let repository = Repository::new();
    repository.set("core.pager", &repository.canary());
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let other_end = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let output = File::options().write(true).open(other_end).unwrap();
    let status = repository.plain(&["log"]).env("TERM", "xterm").stdout(output).status().unwrap();
    assert!(repository.has_canary_run(), "the trap does not work: {status:?} {:?}", status.signal());
    let repository = Repository::new();
    repository.set("core.pager", &repository.canary());
    assert_eq!(git().run(&repository.top, &["log", "--format=%s"]).unwrap(), "first\n");
    assert!(!repository.has_canary_run());
}

#[test]
fn s32_a_missing_object_is_not_fetched_by_a_program_of_the_repository() {
    let promised = |repository: &Repository| {
        let blob = repository.git(&["rev-parse", "HEAD:file"]);
        fs::remove_file(repository.path(&format!(".git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
        repository.set("core.repositoryFormatVersion", "1");
        repository.set("extensions.partialClone", "origin");
        repository.set("remote.origin.url", repository.outside.to_str().unwrap());
        repository.set("remote.origin.uploadpack", &repository.canary());
        repository.set("protocol.file.allow", "always");
    };
    assert!(matches!(spring(promised, &["log", "-p"]), Err(GitError::Failed { .. })));
}

#[test]
fn s32_an_alias_of_the_repository_is_not_a_command() {
    let alias = |repository: &Repository| repository.set("alias.st", &format!("!{}", repository.canary()));
    let error = spring(alias, &["st"]).unwrap_err();
    assert_eq!(error.to_string(), "`git st` is not one of the commands used here");
    assert!(matches!(git().run(Path::new("/"), &[]), Err(GitError::NotOffered { .. })));
    assert!(matches!(git().run(Path::new("/"), &["-c", "x", "status"]), Err(GitError::NotOffered { .. })));
}
