//! Working directory of commands, and files that they leave for later ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{BYPASS, bash};
use crate::aftermath::assert_all_failed;
use crate::calls::{WRITTEN, call, every_look, main_agent, main_agent_in_turns, write};
use crate::resources::on_a_disk;
use crate::world::as_each_user;

fn bash_in(directory: &str, line: &str) -> sortie_testkit::ScriptedPart {
    call("Bash", json!({"command": line, "cwd": directory}))
}

#[test]
fn s09_a_link_made_by_a_command_leads_no_tool_outside() {
    as_each_user(|world| {
        world.write("home/.bashrc", "# first line\n");
        let outside = world.name("outside");
        let links = format!(
            "ln -s $HOME out; ln -s {outside} esc; ln -s {outside}/canary.txt esc.txt; mkdir d; ln -s /.. d/up"
        );
        let mut calls = vec![write("out/.bashrc"), write("out/new.txt"), write("esc/new.txt")];
        calls.extend(["esc/canary.txt", "esc.txt", "esc", "d/up"].into_iter().flat_map(every_look));
        let after = world.run(BYPASS, main_agent_in_turns([vec![bash(&links)], calls]));
        let answers = after.assert_completed().answers();
        answers[0].assert_done();
        assert_all_failed(&answers[1..], "is outside the workspace");
        assert_eq!(world.text("home/.bashrc"), "# first line\n");
        assert!(!world.path("home/new.txt").exists());
    });
}

#[test]
fn s09_no_command_makes_another_name_for_a_file_that_is_not_its_own() {
    as_each_user(|world| {
        world.write("home/.bashrc", "# first line\n");
        let lines = ["ln ~/.bashrc mine && echo hostile >> mine", "exec 3>> ~/.bashrc", "cp --link ~/.bashrc mine"];
        assert_all_failed(&world.run(BYPASS, main_agent(lines.map(bash))).assert_completed().answers(), "");
        assert_eq!(world.text("home/.bashrc"), "# first line\n");
    });
}

#[test]
fn s43_a_command_runs_in_the_workspace_wherever_its_model_wants_it_to() {
    as_each_user(|world| {
        world.link(world.path("outside"), "workspace/esc");
        world.link("/", "workspace/root");
        let outside = world.name("outside");
        let directories = ["/", "..", "../outside", &outside, "esc", "root/etc", "/proc/self/cwd/..", "~", "src/../.."];
        let calls = directories.map(|directory| bash_in(directory, "pwd; touch new.txt; cat canary.txt"));
        let after = world.run(BYPASS, main_agent(calls));
        assert_all_failed(&after.assert_completed().answers(), "");
        assert!(after.answers().iter().all(|answer| !answer.text.contains("Exit code")), "nothing ran: {after:#?}");
        let after = world.run(BYPASS, main_agent([bash_in("src", "pwd; touch new.txt")]));
        after.answer_of("main").assert_done();
        assert!(world.path("workspace/src/new.txt").exists(), "{after:#?}");
    });
}

#[test]
fn s43_changing_the_directory_opens_nothing() {
    as_each_user(|world| {
        let outside = world.name("outside");
        let lines = [
            format!("cd {outside}; echo {WRITTEN} > new.txt"),
            "cd ../outside && rm canary.txt".to_owned(),
            "cd / && touch sortie-was-here".to_owned(),
            "cd ~ && touch new.txt".to_owned(),
            format!("echo {WRITTEN} > /proc/self/cwd/../outside/new.txt"),
            format!("echo {WRITTEN} > /var/tmp/sortie-was-here"),
            "perl -e 'chroot(\"..\") or die $!'".to_owned(),
        ];
        let after = world.run(BYPASS, main_agent(lines.iter().map(|line| bash(line))));
        assert_all_failed(&after.assert_completed().answers(), "");
        assert!(!world.path("home/new.txt").exists());
    });
}

/// Opens the closed workspace. The gate sees no `chmod` here, so the walls have to hold.
const OPEN: &str = r#"perl -e '$g = "git"; chmod 0755, ".", ".$g"'"#;

/// Looks around, and tries to plant a protected name wherever that may be possible.
fn looks_and_plants() -> [sortie_testkit::ScriptedPart; 3] {
    [
        bash("ls > /dev/null && cat src/main.rs && git --version > /dev/null"),
        bash(&format!("{OPEN}; g=sortie; mkdir -p .$g && echo hostile > .$g/config.toml && echo PLANTED")),
        bash(&format!("{OPEN}; g=git; mkdir -p .$g/hooks && echo hostile > .$g/hooks/pre-commit && echo PLANTED")),
    ]
}

/// In a namespace of its own, a keeper can create placeholders even here, unless the directory has a foreign group.
#[test]
fn s40_a_command_runs_in_a_closed_directory_and_plants_nothing_there() {
    as_each_user(|world| {
        world.in_a_foreign_group("workspace");
        let close = |mode| fs::set_permissions(world.path("workspace"), fs::Permissions::from_mode(mode)).unwrap();
        close(0o555);
        let after = world.run(BYPASS, main_agent_in_turns(looks_and_plants().map(|call| vec![call])));
        close(0o755);
        let answers = after.assert_completed().answers();
        answers[0].assert_done();
        assert!(answers[1..].iter().all(|answer| !answer.text.contains("PLANTED")), "{answers:#?}");
        assert!(answers.iter().all(|answer| !answer.refused), "the walls were tried: {answers:#?}");
        assert!(!world.path("workspace/.sortie").exists() && !world.path("workspace/.git/hooks").exists());
    });
}

#[test]
fn s40_a_command_runs_on_a_read_only_disk() {
    const MOUNT: &str =
        "mount --bind \"$PWD\" \"$PWD\" && mount -o remount,bind,ro \"$PWD\" && cd \"$PWD\" && exec \"$@\"";
    as_each_user(|world| {
        let script = main_agent_in_turns(looks_and_plants().map(|call| vec![call]));
        let after = world.run_under(&on_a_disk(world, MOUNT), BYPASS, script);
        let answers = after.assert_completed().answers();
        answers[0].assert_done();
        assert!(answers[1..].iter().all(|answer| answer.failed), "{answers:#?}");
    });
}

#[test]
fn s40_a_command_runs_in_a_directory_of_somebody_else() {
    as_each_user(|world| {
        // Root may write everywhere, and must not try here.
        if world.uid() != 0 {
            let after = world.run(&[BYPASS, &["--cwd", "/usr"]].concat(), main_agent([bash("ls bin | wc -l")]));
            after.assert_completed().answer_of("main").assert_done();
        }
    });
}
