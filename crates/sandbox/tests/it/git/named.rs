//! Programs under keys that a repository chooses itself: they cannot be pinned, so the repository is refused.

use std::fs;

use sortie_sandbox::GitError;

use super::repository::{Repository, git};
use super::traps::spring;

const WORKTREE: &[&str] = &["worktree", "add", "-q", "../tree"];

/// Plain git runs the canary; ours refuses the repository because of that setting.
fn refused(prepare: impl Fn(&Repository), arguments: &[&str], setting: &str) {
    let answer = spring(prepare, arguments);
    let Err(GitError::NamesPrograms { settings, .. }) = &answer else { panic!("{arguments:?} {answer:?}") };
    assert!(settings.contains(setting), "{settings}");
}

/// Applies the attribute `x` to a file, so that git has to run its program.
fn arm(repository: &Repository, attribute: &str) {
    repository.put(".git/info/attributes", &format!("file {attribute}=x\n"));
    match attribute {
        "filter" => repository.touch("file"),
        "diff" => repository.put("file", "second\n"),
        _ => {
            for (branch, text) in [("other", "theirs\n"), ("main", "ours\n")] {
                repository.git(&["checkout", "-q", "-B", branch]);
                repository.put("file", text);
                repository.git(&["commit", "-q", "-a", "-m", branch]);
                repository.git(&["checkout", "-q", "HEAD~1"]);
            }
            repository.git(&["checkout", "-q", "main"]);
        }
    }
}

#[test]
fn s33_a_repository_that_names_programs_is_refused_wherever_they_would_run() {
    for (setting, arguments) in [
        ("filter.x.clean", &["status"][..]),
        ("filter.x.process", &["status"]),
        ("filter.x.smudge", WORKTREE),
        ("diff.x.command", &["diff"]),
        ("diff.x.textconv", &["diff"]),
        ("merge.x.driver", &["merge", "other"]),
    ] {
        let prepare = |repository: &Repository| {
            arm(repository, setting.split('.').next().unwrap());
            repository.set(setting, &repository.canary());
        };
        refused(prepare, arguments, setting);
    }
}

#[test]
fn s33_programs_are_found_in_included_and_working_tree_configuration() {
    let included = |repository: &Repository| {
        arm(repository, "filter");
        repository.put("settings", &format!("[filter \"x\"]\n\tclean = \"{}\"\n", repository.canary()));
        repository.set("include.path", "../settings");
    };
    refused(included, &["status"], "filter.x.clean");
    let of_the_working_tree = |repository: &Repository| {
        arm(repository, "filter");
        repository.set("extensions.worktreeConfig", "true");
        repository.git(&["config", "--worktree", "filter.x.clean", &repository.canary()]);
        assert!(!fs::read_to_string(repository.path(".git/config")).unwrap().contains("filter"));
    };
    refused(of_the_working_tree, &["status"], "filter.x.clean");
}

#[test]
fn s33_an_include_for_a_future_working_tree_is_refused_before_it_is_created() {
    let later = |repository: &Repository| {
        arm(repository, "filter");
        repository.put("settings", &format!("[filter \"x\"]\n\tsmudge = \"{}\"\n", repository.canary()));
        repository.set("includeIf.gitdir:**/worktrees/tree.path", "../settings");
    };
    refused(later, WORKTREE, "includeif.gitdir");
}

#[test]
fn s33_submodules_are_ignored() {
    let submodule = |repository: &Repository| {
        repository.git(&["init", "-q", "sub"]);
        repository.put("sub/file", "first\n");
        repository.git(&["-C", "sub", "add", "."]);
        repository.git(&["-C", "sub", "commit", "-q", "-m", "first"]);
        repository.git(&["add", "sub"]);
        repository.git(&["commit", "-q", "-m", "sub"]);
        repository.put("sub/.git/info/attributes", "file filter=x\n");
        repository.git(&["-C", "sub", "config", "filter.x.clean", &repository.canary()]);
        repository.set("submodule.sub.ignore", "none");
        repository.touch("sub/file");
    };
    assert_eq!(spring(submodule, &["status", "--porcelain"]).unwrap(), "");
}

#[test]
fn a_command_that_runs_nothing_works_in_any_repository() {
    let repository = Repository::new();
    repository.set("filter.x.clean", &repository.canary());
    assert_eq!(git().run(&repository.top, &["rev-parse", "--abbrev-ref", "HEAD"]).unwrap(), "main\n");
}

#[test]
fn a_filter_without_a_program_is_no_reason_to_refuse() {
    let repository = Repository::new();
    repository.set("filter.x.required", "false");
    git().status(&repository.top).unwrap();
}
