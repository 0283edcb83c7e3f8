//! Somebody else changes the workspace while a command runs: what was denied when it started stays denied.

use std::fs;
use std::path::Path;

use super::bash;
use crate::calls::main_agent;
use crate::world::{CANARY, World, as_each_user};

const FREE: &[&str] = &["--permission-mode", "bypass"];
const DENYING: &[&str] = &["--permission-mode", "bypass", "--deny", "Read(secrets/**)"];

/// Command that waits for the change and for the cover of a place, and then does its deed. The place is in two halves,
/// so that no rule sees which one it is.
fn waiting([head, tail]: [&str; 2], deed: &str) -> String {
    let covered = "until grep -q \" $PWD/$place \" /proc/self/mountinfo; do :; done";
    let wait = format!("until [ -e go ]; do :; done; {covered}");
    format!("h={head}; place=${{h}}{tail}; echo > up; {wait}; {deed}")
}

/// The command's answer, if `change` is made once while it waits.
fn changed_meanwhile(world: &World, flags: &[&str], line: &str, change: impl Fn() + Sync) -> (String, String) {
    let [up, go] = ["workspace/up", "workspace/go"].map(|path| world.path(path));
    let change = || {
        if up.exists() && !go.exists() {
            change();
            fs::write(&go, "").unwrap();
        }
        std::thread::yield_now();
    };
    let (after, _) = world.run_while(change, flags, main_agent([bash(line)]));
    let answer = after.assert_completed().answer_of("main");
    assert!(!answer.refused, "{answer:#?}");
    (answer.text, after.stdout())
}

/// As `git checkout` does away and back.
fn check_out_anew(directory: &Path) {
    let kept = fs::read(directory.join("canary.txt")).unwrap();
    fs::rename(directory, directory.with_extension("old")).unwrap();
    fs::remove_dir_all(directory.with_extension("old")).unwrap();
    fs::create_dir(directory).unwrap();
    fs::write(directory.join("canary.txt"), kept).unwrap();
}

#[test]
fn s11_a_denied_directory_that_is_checked_out_anew_stays_denied() {
    as_each_user(|world| {
        world.canary("workspace/secrets/canary.txt");
        let line = waiting(["sec", "rets"], "cat $place/* || ls $place || echo still hidden");
        let secrets = world.path("workspace/secrets");
        let (answer, events) = changed_meanwhile(world, DENYING, &line, || check_out_anew(&secrets));
        assert!(answer.contains("still hidden") && !answer.contains(CANARY), "{answer}");
        assert!(answer.contains("secrets"), "the answer names what was replaced: {answer}");
        assert!(!events.contains(CANARY));
    });
}

#[test]
fn s42_a_repository_that_is_made_anew_gets_its_walls_again() {
    as_each_user(|world| {
        world.write("workspace/.git/hooks/README", "");
        world.write("workspace/.git/config", "[core]\n");
        let git = world.path("workspace/.git");
        let init = || {
            fs::remove_dir_all(&git).unwrap();
            fs::create_dir_all(git.join("hooks")).unwrap();
            fs::write(git.join("config"), "[core]\n").unwrap();
        };
        let deed =
            "echo hostile > $place/pre-commit && echo PLANTED; mv ${place%/hooks} away && echo PLANTED; echo tried";
        let (answer, _) = changed_meanwhile(world, FREE, &waiting([".gi", "t/hooks"], deed), init);
        assert!(answer.contains("tried") && !answer.contains("PLANTED"), "{answer}");
        assert!(answer.contains(".git"), "the answer names what was replaced: {answer}");
        assert!(!git.join("hooks/pre-commit").exists() && git.exists());
    });
}
