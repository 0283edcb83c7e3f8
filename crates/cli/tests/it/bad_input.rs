//! Bad input: a clear message with what to do next, the right exit code, nothing on stdout, nothing half written.

use std::fs;

use expect_test::{Expect, expect};
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::world::{Invocation, World};

fn check(invocation: Invocation, expected: &Expect) {
    let ended = invocation.run();
    assert_eq!(ended.stdout, "", "nothing on stdout");
    expected.assert_eq(&ended.transcript());
}

#[test]
fn an_unknown_flag_is_wrong_usage() {
    let world = World::new();
    check(world.sortie(["run", "--speed", "9", "hello"]), &expect![[""]]);
    check(world.sortie(["run", "--max-turns", "0", "hello"]), &expect![[""]]);
    check(world.sortie(["run", "--timeout", "soon", "hello"]), &expect![[""]]);
    check(world.sortie(["run", "--verbose", "--output-format", "json", "hello"]), &expect![[""]]);
    assert!(world.kept_nothing());
}

#[test]
fn an_unknown_agent_is_wrong_usage() {
    let world = World::new();
    check(world.sortie(["run", "--agent", "nobody", "hello"]), &expect![[""]]);
}

#[test]
fn an_unknown_model_is_wrong_usage() {
    let world = World::new();
    check(world.sortie(["run", "--model", "gpt-99", "hello"]), &expect![[""]]);
}

#[test]
fn an_unknown_wire_is_wrong_configuration() {
    let world = World::new();
    check(world.sortie(["run", "hello"]).env("LLM_WIRE", "telegraph"), &expect![[""]]);
    assert!(world.kept_nothing());
}

#[test]
fn a_missing_key_is_wrong_configuration() {
    let world = World::new();
    check(world.sortie(["run", "hello"]).env("LLM_MODEL_ID", "claude-x"), &expect![[""]]);
    check(
        world.sortie(["run", "hello"]).envs([("LLM_MODEL_ID", "m"), ("LLM_BASE_URL", "https://models.example/v1")]),
        &expect![[""]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn an_unreadable_configuration_is_named() {
    let world = World::new();
    check(world.sortie(["--config", "missing.toml", "run", "hello"]), &expect![[""]]);
    // A directory can be read by nobody, not even by root.
    fs::create_dir_all(world.path("home/.config/sortie/config.toml")).unwrap();
    check(world.sortie(["run", "hello"]), &expect![[""]]);
    assert!(world.kept_nothing());
}

#[test]
fn a_configuration_with_a_wrong_type_is_named() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = \"deep\"\n");
    check(world.sortie(["run", "hello"]), &expect![[""]]);
    assert!(world.kept_nothing());
}

#[test]
fn an_empty_prompt_is_wrong_usage() {
    let world = World::new();
    check(world.sortie(["run", ""]), &expect![[""]]);
    check(world.sortie(["run", "-"]).stdin(" \n"), &expect![[""]]);
    check(world.sortie(["run"]), &expect![[""]]);
}

#[test]
fn a_prompt_above_the_cap_is_wrong_usage_and_is_not_read_to_its_end() {
    let world = World::new();
    let small = || world.sortie(["run", "--set", "task_tool.max_prompt_bytes=10", "-"]);
    check(small().stdin("0123456789-"), &expect![[""]]);
    // Far more than any pipe holds.
    check(small().stdin(vec![b'x'; 4 << 20]), &expect![[""]]);
    check(world.sortie(["run", "--set", "task_tool.max_prompt_bytes=10", "0123456789-"]), &expect![[""]]);
    check(world.sortie(["run", "-"]).stdin([b'a', 0xff, b'b']), &expect![[""]]);
}

#[test]
fn a_workspace_that_is_not_there_is_named() {
    let world = World::new();
    check(world.sortie(["run", "--cwd", "missing", "hello"]), &expect![[""]]);
    check(world.sortie(["run", "--cwd", "src/main.rs", "hello"]), &expect![[""]]);
    assert!(world.kept_nothing());
}

#[test]
fn a_journal_that_cannot_be_used_is_named() {
    let world = World::new();
    world.write("state/journal.db", "this is not a database, and it is long enough to have a header of its own");
    let before = fs::read(world.path("state/journal.db")).unwrap();
    let ended = world.sortie(["run", "hello"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("journal.db is damaged"), "{}", ended.stderr);
    assert_eq!(fs::read(world.path("state/journal.db")).unwrap(), before, "it is left as it was");
    let ended = world.sortie(["tasks", "list"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));

    world.write("not-a-directory", "");
    let ended = world.sortie(["run", "hello"]).env("SORTIE_HOME", world.path("not-a-directory")).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("SORTIE_HOME"), "it says what to do: {}", ended.stderr);
}

#[test]
fn a_server_that_refuses_connections_is_named() {
    let world = World::new();
    // A port that was free a moment ago and has no listener now.
    let server = ScriptedServer::start(Script::always(reply::text("x"))).unwrap();
    let ended = {
        let invocation = world.sortie(["run", "--set", "llm.retry_base_ms=1", "hello"]).on(&server, "anthropic");
        drop(server);
        invocation.run()
    };
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("error: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("is the server running"), "{}", ended.stderr);
    assert!(ended.stderr.contains("model_unreachable"), "{}", ended.stderr);
}

#[test]
fn a_wrong_key_is_an_error_that_does_not_show_it() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::status(401))).unwrap();
    let ended = world.sortie(["run", "hello"]).on(&server, "anthropic").env("LLM_API_KEY", "canary").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("LLM_API_KEY") && ended.stderr.contains("model_auth"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("canary"));
}
