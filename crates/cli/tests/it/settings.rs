//! Every setting through every layer, and what is said of those that do not fit.

use expect_test::{Expect, expect};

use crate::world::World;

/// Key, its default as shown, and three other values, for the file, the environment and the flag.
const KEYS: [(&str, &str, [&str; 3]); 16] = [
    ("task_tool.enabled", "true", ["false", "true", "false"]),
    ("task_tool.max_depth", "2", ["3", "4", "0"]),
    ("task_tool.default_timeout_seconds", "300", ["10", "20", "30"]),
    ("task_tool.max_tokens", "(not set)", ["1000", "2000", "3000"]),
    ("task_tool.max_concurrent", "20", ["1", "2", "3"]),
    ("task_tool.max_children", "200", ["5", "6", "7"]),
    ("task_tool.max_prompt_bytes", "1048576", ["100", "200", "300"]),
    ("llm.max_retries", "5", ["0", "1", "2"]),
    ("llm.retry_base_ms", "500", ["1", "2", "3"]),
    ("llm.idle_timeout_seconds", "60", ["7", "8", "9"]),
    ("routes.main.model", "(not set)", ["\"a\"", "\"b\"", "\"c\""]),
    ("routes.main.api_key_env", "(not set)", ["\"A\"", "\"B\"", "\"C\""]),
    (
        "routes.main.base_url",
        "(not set)",
        ["\"http://127.0.0.1:1\"", "\"http://127.0.0.1:2\"", "\"http://127.0.0.1:3\""],
    ),
    ("routes.main.wire", "(not set)", ["\"anthropic\"", "\"openai-chat\"", "\"anthropic\""]),
    ("routes.main.window", "(not set)", ["1000", "2000", "3000"]),
    ("routes.main.max_output", "(not set)", ["100", "200", "300"]),
];

/// Value and origin of a key in `config show`.
fn shown(text: &str, key: &str) -> (String, String) {
    let line =
        text.lines().find(|line| line.starts_with(&format!("{key} "))).unwrap_or_else(|| panic!("{key}: {text}"));
    let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
    (columns[1].to_owned(), columns[2].to_owned())
}

/// A value as the table shows it: without the quotes that a URL does not get.
fn as_shown(key: &str, value: &str) -> String {
    if key.ends_with("base_url") { value.trim_matches('"').to_owned() } else { value.to_owned() }
}

fn in_file(key: &str, value: &str) -> String {
    let (section, name) = key.rsplit_once('.').unwrap();
    format!("# a comment\n[{section}]\n{name} = {value}\n")
}

#[test]
fn every_key_is_flipped_by_the_file_the_environment_and_a_flag_in_this_order() {
    for (key, default, [file, variable, flag]) in KEYS {
        let world = World::new();
        let show = |args: &[&str], env: &[(&str, &str)]| {
            let ended = world.sortie(args).envs(env.iter().copied()).run();
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{key}");
            shown(&ended.stdout, key)
        };
        assert_eq!(show(&["config", "show"], &[]), (default.to_owned(), "default".to_owned()));

        let path = world.config(&in_file(key, file));
        assert_eq!(show(&["config", "show"], &[]), (as_shown(key, file), format!("{}:3", path.display())));

        let name = format!("SORTIE_{}", key.replace('.', "__").to_uppercase());
        let env = [(name.as_str(), variable.trim_matches('"'))];
        assert_eq!(show(&["config", "show"], &env), (as_shown(key, variable), name.clone()));

        let set = format!("{key}={}", flag.trim_matches('"'));
        assert_eq!(show(&["--set", &set, "config", "show"], &env), (as_shown(key, flag), "--set".to_owned()));
        assert_eq!(show(&["config", "show", "--set", &set], &env), (as_shown(key, flag), "--set".to_owned()));
    }
}

#[test]
fn the_table_of_this_test_has_every_key() {
    let listed = World::new().sortie(["config", "show"]).run().stdout;
    let keys: Vec<&str> =
        listed.lines().filter_map(|line| line.split_once("  #")?.0.split_once(' ')).map(|(key, _)| key).collect();
    let mut tested: Vec<&str> = KEYS.iter().map(|(key, ..)| *key).chain(["routes.main.api_key"]).collect();
    tested.sort_unstable_by_key(|key| keys.iter().position(|known| known == key));
    assert_eq!(keys, tested);
}

#[test]
fn the_short_variables_set_the_main_route_and_the_long_ones_win() {
    let world = World::new();
    let variables = [
        ("routes.main.model", "LLM_MODEL_ID", "m"),
        ("routes.main.api_key", "LLM_API_KEY", "k"),
        ("routes.main.base_url", "LLM_BASE_URL", "http://127.0.0.1:1"),
        ("routes.main.wire", "LLM_WIRE", "anthropic"),
    ];
    for (key, short, value) in variables {
        let long = format!("SORTIE_{}", key.replace('.', "__").to_uppercase());
        let ended = world.sortie(["config", "show"]).env(short, value).run();
        assert_eq!(shown(&ended.stdout, key).1, short);
        let ended = world.sortie(["config", "show"]).env(short, value).env(&long, value).run();
        assert_eq!(shown(&ended.stdout, key).1, long);
        let ended = world.sortie(["config", "show"]).env(short, "").run();
        assert_eq!(shown(&ended.stdout, key).1, "default", "an empty variable is none");
    }
}

#[test]
fn keys_are_masked_wherever_they_come_from() {
    let world = World::new();
    world.config("[routes.main]\napi_key = \"canary-one\"\nbase_url = \"https://user:canary-two@host.example/v1?k=canary-three\"\n");
    let env_file = world.write("keys.env", "LLM_API_KEY=canary-four\n");
    for args in [vec!["config", "show"], vec!["config", "show", "--env-file", env_file.to_str().unwrap()]] {
        let ended = world.sortie(&args).env("ANTHROPIC_API_KEY", "canary-five").run();
        assert_eq!(ended.code, 0);
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("canary"), "{ended:#?}");
        assert_eq!(shown(&ended.stdout, "routes.main.api_key").0, "********");
        assert!(shown(&ended.stdout, "routes.main.base_url").0.contains("host.example/v1"));
    }
}

#[test]
fn the_whole_table_as_a_person_sees_it() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = 1\n\n[routes.main]\nmodel = \"claude-x\"\napi_key_env = \"MY_KEY\"\n");
    let ended = world.sortie(["config", "show"]).env("MY_KEY", "secret").env("SORTIE_LLM__MAX_RETRIES", "9").run();
    expect![[r#"
        exit 0
        --- stdout
        workspace  <dir>/workspace
        config     <dir>/home/.config/sortie/config.toml
        home       <dir>/state
        model      claude-x over anthropic at https://api.anthropic.com, key from MY_KEY

        task_tool.enabled                  true        default                                   # whether agents may start sub-agents
        task_tool.max_depth                1           <dir>/home/.config/sortie/config.toml:2  # levels of sub-agents below the main agent
        task_tool.default_timeout_seconds  300         default                                   # time of a sub-agent that asks for none
        task_tool.max_tokens               (not set)   default                                   # tokens of each task with its descendants
        task_tool.max_concurrent           20          default                                   # sub-agents that run at once; more wait
        task_tool.max_children             200         default                                   # sub-agents that one run may start in all
        task_tool.max_prompt_bytes         1048576     default                                   # longest prompt that is accepted
        llm.max_retries                    9           SORTIE_LLM__MAX_RETRIES                   # tries after the first, never past the deadline
        llm.retry_base_ms                  500         default                                   # first wait before a retry; it doubles
        llm.idle_timeout_seconds           60          default                                   # a model call without content for so long has stalled
        routes.main.model                  "claude-x"  <dir>/home/.config/sortie/config.toml:5  # the model's id at its provider
        routes.main.api_key                (not set)   default                                   # the key itself
        routes.main.api_key_env            "MY_KEY"    <dir>/home/.config/sortie/config.toml:6  # the variable that holds the key
        routes.main.base_url               (not set)   default                                   # the provider's or any compatible server's URL
        routes.main.wire                   (not set)   default                                   # the API it speaks; guessed from URL and model if not set
        routes.main.window                 (not set)   default                                   # tokens that the model can take in
        routes.main.max_output             (not set)   default                                   # tokens of one reply at most
    "#]].assert_eq(&ended.transcript());
}

#[test]
fn another_file_replaces_the_users_own() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = 7\nmax_children = 7\n");
    let other = world.write("other.toml", "[task_tool]\nmax_depth = 8\n");
    let ended = world.sortie(["config", "show", "--config", other.to_str().unwrap()]).run();
    assert_eq!(shown(&ended.stdout, "task_tool.max_depth"), ("8".to_owned(), format!("{}:2", other.display())));
    assert_eq!(shown(&ended.stdout, "task_tool.max_children").1, "default");
}

#[test]
fn the_users_file_is_found_through_xdg_and_home() {
    let world = World::new();
    world.write("xdg/sortie/config.toml", "[task_tool]\nmax_depth = 9\n");
    let ended = world.sortie(["config", "show"]).env("XDG_CONFIG_HOME", world.path("xdg")).run();
    assert_eq!(shown(&ended.stdout, "task_tool.max_depth").0, "9");
    let ended = world.sortie(["config", "show"]).env("XDG_CONFIG_HOME", "xdg").run();
    assert_eq!(shown(&ended.stdout, "task_tool.max_depth").1, "default", "a relative one does not count");
}

/// What is said of a configuration, and the exit code.
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
            error: <dir>/home/.config/sortie/config.toml:2: `routes.main.wire` must be one of anthropic, openai-chat, not "smoke-signals"
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
fn unknown_settings_are_warned_of_with_the_nearest_known_one() {
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

#[test]
fn settings_of_later_versions_are_not_accepted_silently() {
    check_config(
        "[task_tool]\nbackground = false\n[permissions]\nallow = [\"Bash\"]\n[routes.light]\nmodel = \"x\"\n[aliases]\nhaiku = \"y\"\n",
        &expect![[r#"
            exit 0
            warning: <dir>/home/.config/sortie/config.toml:2 is ignored: `task_tool.background` is not in this version
            warning: <dir>/home/.config/sortie/config.toml:3 is ignored: `permissions` is not in this version
            warning: <dir>/home/.config/sortie/config.toml:5 is ignored: `routes.light` is not in this version
            warning: <dir>/home/.config/sortie/config.toml:7 is ignored: `aliases` is not in this version
        "#]],
    );
}
