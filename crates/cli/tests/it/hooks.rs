//! Hooks in settings: reading, display, and what an untrusted project may declare.

use expect_test::expect;

use crate::world::World;

const PROJECT: &str = "workspace/.sortie/config.toml";

#[test]
fn hooks_are_shown_with_their_origin() {
    let world = World::new();
    world.config(
        "[[hooks]]\non = \"task_ended\"\ncommand = [\"notify-send\", \"a task ended\"]\n\n\
         [[hooks]]\non = \"task_started\"\ncommand = [\"~/gate\"]\ntimeout_seconds = 60\nagents = [\"explore\"]\n",
    );
    let ended = world.sortie(["config", "show"]).run();
    let lines = ended.stdout.lines().filter(|line| line.starts_with("hooks ")).map(|line| {
        line.replace(&*world.path("").to_string_lossy(), "<dir>/").split_whitespace().collect::<Vec<_>>().join(" ")
            + "\n"
    });
    expect![[r#"
        hooks { on = "task_ended", command = ["notify-send", "a task ended"], timeout_seconds = 10 } <dir>/home/.config/sortie/config.toml:1 # programs to run when a task starts, ends or asks; all layers add up
        hooks { on = "task_started", command = ["~/gate"], timeout_seconds = 60, agents = ["explore"] } <dir>/home/.config/sortie/config.toml:5 # programs to run when a task starts, ends or asks; all layers add up
    "#]].assert_eq(&lines.collect::<Vec<_>>().concat());
    assert_eq!(ended.stderr, "");
}

#[test]
fn an_invalid_hook_is_an_error_with_its_line() {
    let world = World::new();
    let said = [
        "[[hooks]]\non = \"task_started\"",
        "[[hooks]]\ncommand = [\"x\"]",
        "[[hooks]]\non = \"task_start\"\ncommand = [\"x\"]",
        "[[hooks]]\non = \"task_asks\"\ncommand = []",
        "[[hooks]]\non = \"task_asks\"\ncommand = \"x\"",
        "[[hooks]]\non = \"task_asks\"\ncommand = [\"x\"]\ntimeout_seconds = 61",
        "[[hooks]]\non = \"task_asks\"\ncommand = [\"x\"]\nagents = []",
        "\n[[hooks]]\non = \"task_asks\"\ncommand = [\"x\"]\n[[hooks]]\non = \"task_asks\"\ncommand = [\"x\"]\ntimeout = 5",
        "[hooks]\non = \"task_asks\"",
        "hooks = [\"x\"]",
    ]
    .map(|text| {
        world.config(text);
        let ended = world.sortie(["templates"]).run();
        assert_eq!(ended.code, 2, "{text}");
        ended.stderr.replace(&*world.path("home/.config/sortie/").to_string_lossy(), "")
    });
    expect![[r#"
        error: config.toml:1: `hooks`: `command` must be a program and its arguments, like ["notify-send", "done"]
        error: config.toml:1: `hooks`: `on` must be one of task_started, task_ended, task_asks
        error: config.toml:1: `hooks`: `on` must be one of task_started, task_ended, task_asks, not "task_start"; did you mean `task_started`?
        error: config.toml:1: `hooks`: `command` must be a program and its arguments, like ["notify-send", "done"]
        error: config.toml:1: `hooks`: `command` must be a program and its arguments, like ["notify-send", "done"]
        error: config.toml:1: `hooks`: `timeout_seconds` must be a whole number from 1 to 60
        error: config.toml:1: `hooks`: `agents` must be a list of agents, like ["explore"]
        error: config.toml:5: `hooks`: a hook has no `timeout`; did you mean `timeout_seconds`?
        error: config.toml:1: `hooks` must be tables in a file, each [[hooks]] with `on` and `command`, not a table
        error: config.toml:1: `hooks` must be tables in a file, each [[hooks]] with `on` and `command`, not "x"
    "#]].assert_eq(&said.concat());
    world.config("");
    let flag = world.sortie(["templates", "--set", "hooks=x"]).run();
    assert!(flag.stderr.starts_with("error: --set: `hooks` must be tables in a file"), "{}", flag.stderr);
}

#[test]
fn a_projects_hooks_are_ignored_until_it_is_trusted() {
    let world = World::new();
    let text = "[[hooks]]\non = \"task_started\"\ncommand = [\".sortie/hooks/gate\", \"--strict\"]\n";
    world.write(PROJECT, text);
    world.write("workspace/.sortie/hooks/gate", "#!/bin/sh\n");
    let shown = |args: &[&str]| world.sortie(["config", "show"].iter().chain(args)).run();
    let is_set =
        |stdout: &str| stdout.lines().any(|line| line.starts_with("hooks ") && line.contains(".sortie/hooks/gate"));
    let untrusted = shown(&[]);
    assert!(!is_set(&untrusted.stdout), "{}", untrusted.stdout);
    expect![[r#"
        warning: ignored: `hooks` (.sortie/config.toml:1): this project is not trusted; look at .sortie/config.toml, then run `sortie trust`
    "#]].assert_eq(&untrusted.stderr);
    assert!(is_set(&shown(&["--trust"]).stdout));
    let trusted = world.sortie(["trust", "--yes"]).run();
    expect![[r#"
        exit 0
        --- stdout
        <dir>/workspace

          .sortie/config.toml
            line 1: runs `.sortie/hooks/gate --strict` before a task starts, with your rights and without walls

          .sortie/hooks/gate
            is a program that hooks may run, with your rights and without walls

        Trusted. This covers 2 files; new or changed files are not covered.
    "#]]
    .assert_eq(&trusted.transcript());
    assert!(is_set(&shown(&[]).stdout));
    world.write(PROJECT, &text.replace("--strict", "--lax"));
    assert!(!is_set(&shown(&[]).stdout), "another command is not the one that was trusted");
}

#[test]
fn a_hook_for_an_unknown_agent_is_a_warning() {
    let world = World::new();
    world.config("[[hooks]]\non = \"task_ended\"\ncommand = [\"true\"]\nagents = [\"explore\", \"explorer\"]\n");
    let ended = world.sortie(["run", "--model", "offline", "Where is login?"]).run();
    assert!(ended.stderr.contains("`hooks`: `explorer` names an unknown agent"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("`explore` names"), "{}", ended.stderr);
}
