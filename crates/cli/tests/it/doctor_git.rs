//! `sortie doctor` about git and the repository around the workspace.

use std::fs;
use std::process::Command;

use crate::doctor::about;
use crate::world::World;

/// Workspace under version control, on the branch `main`.
fn world() -> World {
    let world = World::new();
    git(&world, &["init", "-q", "-b", "main"]);
    world
}

fn git(world: &World, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(world.path("workspace")).env("HOME", world.path("home"));
    command.env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(command.status().unwrap().success());
}

#[test]
fn git_is_named_with_its_version_and_place() {
    let ended = World::new().sortie(["doctor"]).run();
    let line = about(&ended, "git")[0];
    assert!(line.contains("2.") && line.contains(" at /"), "{line}");
}

#[test]
fn the_branch_and_uncommitted_changes_are_shown() {
    let world = world();
    let told = || {
        let ended = world.sortie(["doctor"]).run();
        let line = about(&ended, "repository")[0].split("  ").last().unwrap().to_owned();
        line.replace(&world.path("").display().to_string(), "<dir>/").trim().to_owned()
    };
    assert_eq!(told(), "<dir>/workspace, branch main, without a commit; files changed: 0, unknown to git: 1");
    git(&world, &["add", "."]);
    git(&world, &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first"]);
    assert_eq!(told(), "<dir>/workspace, branch main; nothing has changed");
    fs::create_dir(world.path("workspace/src/.sortie")).unwrap();
    world.write("workspace/src/main.rs", "fn main() {}\n");
    let ended = world.sortie(["doctor"]).cwd(world.path("workspace/src")).run();
    let line = about(&ended, "repository")[0];
    assert!(line.contains("files changed: 1"), "a workspace may lie within a repository: {line}");
}

#[test]
fn a_repository_that_would_run_programs_is_not_queried() {
    let world = world();
    let canary = world.path("canary");
    git(&world, &["config", "core.fsmonitor", &format!("echo ran >> {}", canary.display())]);
    git(&world, &["config", "filter.x.clean", "cat"]);
    let ended = world.sortie(["doctor"]).run();
    let line = about(&ended, "repository")[0];
    assert!(line.starts_with("warning  ") && line.contains("`filter.x.clean`"), "{line}");
    assert_eq!((ended.code, canary.exists()), (0, false));
}

#[test]
fn a_workspace_without_a_repository_is_fine() {
    let ended = World::new().sortie(["doctor"]).run();
    let line = about(&ended, "repository")[0];
    assert!(line.starts_with("ok  ") && line.contains("none: "), "{line}");
}
