//! `sortie doctor` about the walls around commands, here and on machines that lack something, imitated by taking it
//! away from one process.

use std::fs;

use crate::doctor::about;
use crate::world::{Ended, World};

const WALLS: [&str; 10] = [
    "wall landlock",
    "wall namespaces",
    "wall system calls",
    "wall files",
    "wall protected",
    "wall /tmp",
    "wall processes",
    "wall network",
    "wall environment",
    "wall end",
];

/// Runs `sortie doctor` after a script has taken something away, as root of a user namespace with its own view of
/// files.
fn doctor_without(world: &World, script: &str) -> Ended {
    let script = format!("set -e; {script}; exec \"$@\"");
    let args = ["--user", "--map-root-user", "--mount", "/bin/sh", "-c", &script, "sh"];
    world.sortie(["doctor"]).under("/usr/bin/unshare", &args).run()
}

const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_pid_namespaces";

/// The only line about a subject.
fn line<'a>(ended: &'a Ended, subject: &str) -> &'a str {
    let lines = about(ended, subject);
    assert_eq!(lines.len(), 1, "{subject}: {ended:#?}");
    lines[0]
}

#[test]
fn each_wall_is_tried_and_stands() {
    let ended = World::new().sortie(["doctor"]).run();
    assert!(line(&ended, "walls").contains("the strongest tier"), "{}", ended.stdout);
    for wall in WALLS {
        let line = line(&ended, wall);
        assert!(line.starts_with("ok  ") && line.contains("  stands: "), "{line}");
    }
    assert!(line(&ended, "bash").contains(" at /"), "{}", ended.stdout);
}

#[test]
fn nothing_is_left_behind() {
    let world = World::new();
    let live = world.sortie(["doctor"]).start();
    let prefix = format!("sortie-doctor-{}-", live.child.id());
    assert_eq!(live.wait().code, 0);
    for place in ["/var/tmp", "/dev/shm", "/tmp"] {
        let mut names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!names.any(|name| name.to_string_lossy().starts_with(&prefix)), "{place}");
    }
}

#[test]
fn without_namespaces_the_weaker_tier_is_named_with_the_switch_and_what_it_lacks() {
    let ended = doctor_without(&World::new(), NO_NAMESPACES);
    let walls = line(&ended, "walls");
    assert!(walls.starts_with("warning  ") && walls.contains("the weaker tier"), "{walls}");
    assert!(walls.contains("set `user.max_pid_namespaces` to more than 0"), "{walls}");
    assert!(!walls.contains("run `sortie doctor`"), "{walls}");
    let (lacking, standing): (Vec<&str>, Vec<&str>) =
        WALLS.iter().partition(|wall| line(&ended, wall).starts_with("warning  "));
    assert_eq!(lacking, ["wall namespaces", "wall /tmp", "wall processes"], "{}", ended.stdout);
    assert!(standing.iter().all(|wall| line(&ended, wall).contains("  stands: ")), "{}", ended.stdout);
    assert_eq!(ended.code, 0, "commands run: {}", ended.stdout);
}

#[test]
fn without_any_tier_commands_are_refused_and_the_last_resort_is_named() {
    // Landlock alone needs a directory for temporary files.
    let read_only = "mount --rbind /tmp /tmp; mount -o remount,bind,ro,nosuid,nodev /tmp";
    let ended = doctor_without(&World::new(), &format!("{NO_NAMESPACES}; {read_only}"));
    let walls = line(&ended, "walls");
    assert!(walls.starts_with("error  ") && walls.contains("commands are refused"), "{walls}");
    assert!(walls.contains("for namespaces: ") && walls.contains("for Landlock: "), "{walls}");
    assert!(walls.ends_with("as the last resort, `--unconfined` runs commands without walls"), "{walls}");
    assert_eq!(ended.code, 1);
}

#[test]
fn without_bash_nothing_is_tried_and_bash_is_named() {
    let cover = "for place in /bin /usr/bin /usr/local/bin; do \
                 if test -e $place/bash; then mount --bind /dev/null $place/bash; fi; done";
    let ended = doctor_without(&World::new(), cover);
    assert!(line(&ended, "bash").ends_with("; install bash"), "{}", ended.stdout);
    assert_eq!((about(&ended, "walls").len(), ended.code), (0, 1));
}

#[test]
fn the_flag_for_no_walls_is_mentioned() {
    let ended = World::new().sortie(["doctor", "--unconfined"]).run();
    let walls = about(&ended, "walls");
    assert!(walls[0].starts_with("warning  ") && walls[0].contains("--unconfined"), "{}", ended.stdout);
    assert!(walls[1].contains("the strongest tier"), "what would stand is told: {}", ended.stdout);
}
