//! Messages about unfit settings in a file.

use expect_test::{Expect, expect};

use crate::world::World;

/// Checks the message about a configuration, and the exit code.
fn check_config(text: &str, expected: &Expect) {
    let world = World::new();
    world.config(text);
    let ended = world.sortie(["config", "show"]).run();
    let said = ended.transcript();
    let said = if ended.code == 0 { said.replace(&ended.stdout, "").replace("--- stdout\n", "") } else { said };
    let stderr = said.split_once("--- stderr\n").map_or("", |(_, stderr)| stderr);
    expected.assert_eq(&format!("exit {}\n{stderr}", ended.code));
}

#[test]
fn a_value_of_the_wrong_type_is_named_with_file_line_and_key() {
    check_config(
        "[task_tool]\n\nmax_depth = \"three\"\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:3: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "three"
        "#]],
    );
    check_config(
        "[task_tool]\nenabled = 1\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `task_tool.enabled` must be true or false, not 1
        "#]],
    );
    check_config(
        "[task_tool]\nmax_concurrent = 0\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `task_tool.max_concurrent` must be a whole number from 1 to 1000000, not 0
        "#]],
    );
    check_config(
        "[task_tool]\nmax_tokens = -1\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `task_tool.max_tokens` must be a whole number of at least 1, not -1
        "#]],
    );
    check_config(
        "[llm]\nmax_retries = 1.5\n",
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:2: `llm.max_retries` must be a whole number from 0 to 100, not a fraction
    "#]],
    );
    check_config(
        "[routes.main]\nwire = \"smoke-signals\"\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `routes.main.wire` must be one of anthropic, gemini, openai-chat, openai-responses, not "smoke-signals"
        "#]],
    );
    check_config(
        "[routes.main]\nbase_url = \"api.example.com\"\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `routes.main.base_url` must be a URL that begins with http:// or https://, not a string
        "#]],
    );
    check_config(
        "[routes.main]\nmodel = \"\"\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `routes.main.model` must be a non-empty string, not ""
        "#]],
    );
    check_config(
        "[routes.main]\napi_key = 12345\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `routes.main.api_key` must be a non-empty string, not a number
        "#]],
    );
    check_config(
        "task_tool = 3\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:1: `task_tool` must be a table like [task_tool], not a number
        "#]],
    );
    check_config(
        "[task_tool]\nmax_depth = { a = 1 }\n",
        &expect![[r#"
            exit 2
            error: <dir>/home/.config/sortie/config.toml:2: `task_tool.max_depth` must be a whole number from 0 to 1000000, not a table
        "#]],
    );
}

#[test]
fn invalid_toml_is_named_with_file_and_line_and_without_its_content() {
    check_config(
        "[task_tool]\nmax_depth = \n",
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:2: this is not valid TOML: string values must be quoted, expected literal string
    "#]],
    );
    check_config(
        "[task_tool]\nmax_depth = 1\nmax_depth = 2\n",
        &expect![[r#"
        exit 2
        error: <dir>/home/.config/sortie/config.toml:3: this is not valid TOML: duplicate key
    "#]],
    );
    let world = World::new();
    world.config("[routes.main]\napi_key = \"canary\n");
    let ended = world.sortie(["config", "show"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
}

#[test]
fn an_unknown_setting_is_a_warning_with_the_nearest_known_one() {
    check_config(
        "[task_tool]\nmax_dephts = 1\n[llm]\nspeed = 9\n[rooutes.main]\nmodel = \"x\"\n",
        &expect![[r#"
            exit 0
            warning: <dir>/home/.config/sortie/config.toml:2 is ignored: unknown setting `task_tool.max_dephts`; did you mean `task_tool.max_depth`?
            warning: <dir>/home/.config/sortie/config.toml:4 is ignored: unknown setting `llm.speed`; `sortie config show` lists all settings
            warning: <dir>/home/.config/sortie/config.toml:5 is ignored: unknown setting `rooutes`; did you mean `routes`?
        "#]],
    );
}
