//! Bad input: a clear message with the next step, the right exit code, nothing on stdout, no partial file.

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
    check(
        world.sortie(["run", "--speed", "9", "hello"]),
        &expect![[r#"
            exit 2
            --- stderr
            error: unexpected argument '--speed' found

              tip: to pass '--speed' as a value, use '-- --speed'

            Usage: sortie run [OPTIONS] [PROMPT] [ARGUMENT]...

            For more information, try '--help'.
        "#]],
    );
    check(
        world.sortie(["run", "--max-turns", "0", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: invalid value '0' for '--max-turns <N>': 0 is not in 1..=4294967295

        For more information, try '--help'.
    "#]],
    );
    check(
        world.sortie(["run", "--timeout", "soon", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: invalid value 'soon' for '--timeout <TIME>': write it like 90s, 5m or 1h; a bare number is seconds

        For more information, try '--help'.
    "#]],
    );
    check(
        world.sortie(["run", "--verbose", "--output-format", "json", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: --verbose is for --output-format text; stream-json has every call anyway
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn an_unknown_agent_is_wrong_usage() {
    let world = World::new();
    check(
        world.sortie(["run", "--agent", "nobody", "hello"]),
        &expect![[r#"
            exit 2
            --- stderr
            error: unknown agent `nobody`; there are main, general-purpose, explore, plan, summary, bash
        "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn an_unknown_model_is_wrong_usage() {
    let world = World::new();
    check(
        world.sortie(["run", "--model", "gpt-99", "hello"]),
        &expect![[r#"
            exit 2
            --- stderr
            error: unknown model `gpt-99`; no route leads to its provider; known routes: offline; to use a model by its id, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL
        "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn an_unknown_wire_is_wrong_configuration() {
    let world = World::new();
    check(
        world.sortie(["run", "hello"]).env("LLM_WIRE", "telegraph"),
        &expect![[r#"
            exit 2
            --- stderr
            error: the variable LLM_WIRE: `routes.main.wire` must be one of anthropic, gemini, openai-chat, openai-responses, not "telegraph"
        "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn a_missing_key_is_wrong_configuration() {
    let world = World::new();
    check(
        world.sortie(["run", "hello"]).env("LLM_MODEL_ID", "claude-x"),
        &expect![[r#"
        exit 2
        --- stderr
        error: there is no key for https://api.anthropic.com: ANTHROPIC_API_KEY is not set
        hint: export ANTHROPIC_API_KEY=…, or name the variable that holds it in [routes.main] api_key_env
    "#]],
    );
    check(
        world.sortie(["run", "hello"]).envs([("LLM_MODEL_ID", "m"), ("LLM_BASE_URL", "https://models.example/v1")]),
        &expect![[r#"
            exit 2
            --- stderr
            error: there is no key for https://models.example/v1: LLM_API_KEY is not set
            hint: export LLM_API_KEY=…, or name the variable that holds it in [routes.main] api_key_env
        "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn an_unreadable_configuration_is_named() {
    let world = World::new();
    check(
        world.sortie(["--config", "missing.toml", "run", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: the configuration <dir>/workspace/missing.toml cannot be read: No such file or directory (os error 2)
        hint: correct the path or its permissions, or name another file with --config
    "#]],
    );
    // Nobody can read a directory as a file, not even root.
    fs::create_dir_all(world.path("home/.config/sortie/config.toml")).unwrap();
    check(
        world.sortie(["run", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: the configuration <dir>/home/.config/sortie/config.toml cannot be read: Is a directory (os error 21)
        hint: correct the path or its permissions, or name another file with --config
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn a_configuration_with_a_wrong_type_is_named() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = \"deep\"\n");
    check(
        world.sortie(["run", "hello"]),
        &expect![[r#"
            exit 2
            --- stderr
            error: <dir>/home/.config/sortie/config.toml:2: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "deep"
        "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn an_empty_prompt_is_wrong_usage() {
    let world = World::new();
    check(
        world.sortie(["run", ""]),
        &expect![[r#"
        exit 2
        --- stderr
        error: the prompt is empty; say what is to be done
    "#]],
    );
    check(
        world.sortie(["run", "-"]).stdin(" \n"),
        &expect![[r#"
        exit 2
        --- stderr
        error: the prompt is empty; say what is to be done
    "#]],
    );
    check(
        world.sortie(["run"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: the prompt is empty; say what is to be done
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn a_prompt_above_the_cap_is_wrong_usage_and_is_not_read_to_its_end() {
    let world = World::new();
    let small = || world.sortie(["run", "--set", "task_tool.max_prompt_bytes=10", "-"]);
    check(
        small().stdin("0123456789-"),
        &expect![[r#"
            exit 2
            --- stderr
            error: the prompt on stdin has more than 10 bytes (`task_tool.max_prompt_bytes`)
        "#]],
    );
    // Far more than any pipe holds.
    check(
        small().stdin(vec![b'x'; 4 << 20]),
        &expect![[r#"
            exit 2
            --- stderr
            error: the prompt on stdin has more than 10 bytes (`task_tool.max_prompt_bytes`)
        "#]],
    );
    check(
        world.sortie(["run", "--set", "task_tool.max_prompt_bytes=10", "0123456789-"]),
        &expect![[r#"
            exit 2
            --- stderr
            error: the prompt has 11 bytes; the limit is 10 (`task_tool.max_prompt_bytes`)
        "#]],
    );
    check(
        world.sortie(["run", "-"]).stdin([b'a', 0xff, b'b']),
        &expect![[r#"
        exit 2
        --- stderr
        error: stdin is not valid UTF-8 (byte 2)
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn a_workspace_that_is_not_there_is_named() {
    let world = World::new();
    check(
        world.sortie(["run", "--cwd", "missing", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: the workspace missing cannot be used: No such file or directory (os error 2)
        hint: name an existing directory with --cwd
    "#]],
    );
    check(
        world.sortie(["run", "--cwd", "src/main.rs", "hello"]),
        &expect![[r#"
        exit 2
        --- stderr
        error: the workspace <dir>/workspace/src/main.rs is not a directory
        hint: name an existing directory with --cwd
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn a_journal_that_cannot_be_used_is_named() {
    let world = World::new();
    world.write("state/journal.db", "this is not a database, and it is long enough to have a header of its own");
    let before = fs::read(world.path("state/journal.db")).unwrap();
    let ended = world.sortie(["run", "hello"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("journal.db is damaged"), "{}", ended.stderr);
    assert_eq!(fs::read(world.path("state/journal.db")).unwrap(), before, "it is left as it was");
    let ended = world.sortie(["tasks", "list"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));

    let world = World::new();
    assert_eq!(world.sortie(["run", "hello"]).run().code, 0);
    let mut newer = fs::read(world.path("state/journal.db")).unwrap();
    // Position of the format number in a SQLite file.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(world.path("state/journal.db"), &newer).unwrap();
    let ended = world.sortie(["run", "hello"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("was written by a newer version (format 99"), "{}", ended.stderr);
    assert_eq!(fs::read(world.path("state/journal.db")).unwrap(), newer, "it is left as it was");

    world.write("not-a-directory", "");
    // Nobody can create a directory in the second one, not even root.
    for home in [world.path("not-a-directory"), "/proc/self/sortie".into()] {
        let ended = world.sortie(["run", "hello"]).env("SORTIE_HOME", home).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
        assert!(ended.stderr.contains("SORTIE_HOME"), "it says what to do: {}", ended.stderr);
    }
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
