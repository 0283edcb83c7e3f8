//! Every setting through every layer.

use expect_test::expect;

use crate::permissions::LISTS;
use crate::world::World;

/// Setting, and the effect of each layer on it.
struct Row {
    key: &'static str,
    /// Default, as `config show` prints it.
    default: &'static str,
    /// Values of the user's file, the project's, the environment and the flag.
    values: [&'static str; 4],
    /// Values that an untrusted project may set.
    narrower: &'static [&'static str],
    /// Values that it may not.
    wider: &'static [&'static str],
}

const fn row(key: &'static str, default: &'static str, values: [&'static str; 4]) -> Row {
    Row { key, default, values, narrower: &[], wider: &["1"] }
}

/// Settings with one name each.
static SINGLE: [Row; 32] = [
    Row {
        wider: &["\"child\""],
        ..row("contract", "(not set)", ["\"typed\"", "\"child\"", "\"result\"", "\"delegate\""])
    },
    Row { narrower: &["false"], wider: &[], ..row("task_tool.enabled", "true", ["false", "true", "false", "true"]) },
    Row { narrower: &["0", "1"], wider: &["3"], ..row("task_tool.max_depth", "2", ["3", "5", "4", "0"]) },
    Row {
        narrower: &["1", "299"],
        wider: &["301"],
        ..row("task_tool.default_timeout_seconds", "300", ["10", "15", "20", "30"])
    },
    Row {
        narrower: &["1", "9999999999"],
        wider: &[],
        ..row("task_tool.max_tokens", "(not set)", ["1000", "1500", "2000", "3000"])
    },
    Row {
        narrower: &["0.01", "99999.5"],
        wider: &[],
        ..row("task_tool.max_cost_usd", "(not set)", ["0.5", "1.5", "2", "3.25"])
    },
    Row { wider: &["\"auto\""], ..row("task_tool.model", "(not set)", ["\"auto\"", "\"p\"", "\"b\"", "\"c\""]) },
    Row {
        narrower: &["1", "9999999999"],
        wider: &[],
        ..row("run.max_tokens", "(not set)", ["1000", "1500", "2000", "3000"])
    },
    Row {
        narrower: &["0.01", "99999.5"],
        wider: &[],
        ..row("run.max_cost_usd", "(not set)", ["0.5", "1.5", "2", "3.25"])
    },
    Row { narrower: &["1", "9999"], wider: &[], ..row("run.timeout_seconds", "(not set)", ["10", "15", "20", "30"]) },
    Row { narrower: &["1", "19"], wider: &["21"], ..row("task_tool.max_concurrent", "20", ["1", "4", "2", "3"]) },
    Row { narrower: &["0", "199"], wider: &["201"], ..row("task_tool.max_children", "200", ["5", "8", "6", "7"]) },
    Row {
        narrower: &["1", "1000000"],
        wider: &[],
        ..row("task_tool.delegations_per_minute", "(not set)", ["10", "15", "20", "30"])
    },
    Row {
        narrower: &[],
        wider: &["1", "1048577"],
        ..row("task_tool.max_prompt_bytes", "1048576", ["100", "150", "200", "300"])
    },
    Row {
        narrower: &[],
        wider: &["true"],
        ..row("task_tool.enable_verbose_logging", "false", ["true", "false", "true", "false"])
    },
    Row {
        narrower: &["false"],
        wider: &[],
        ..row("task_tool.allow_model_override", "true", ["false", "true", "false", "true"])
    },
    Row { narrower: &["false"], wider: &[], ..row("task_tool.background", "true", ["false", "true", "false", "true"]) },
    Row { narrower: &["false"], wider: &[], ..row("task_tool.resume", "true", ["false", "true", "false", "true"]) },
    Row { narrower: &["0", "6"], wider: &["8"], ..row("task_tool.resume_days", "7", ["1", "2", "3", "4"]) },
    Row { narrower: &["1", "299"], wider: &["301"], ..row("permissions.answer_seconds", "300", ["1", "2", "3", "4"]) },
    Row { narrower: &[], wider: &["true"], ..row("task_tool.cache", "false", ["true", "false", "true", "false"]) },
    Row {
        narrower: &[],
        wider: &["true"],
        ..row("task_tool.inherit_context_files", "false", ["true", "false", "true", "false"])
    },
    Row {
        narrower: &["0", "16383"],
        wider: &["16385"],
        ..row("task_tool.context_file_bytes", "16384", ["1", "2", "3", "4"])
    },
    Row { narrower: &[], wider: &["true"], ..row("agents.builtin", "false", ["true", "false", "true", "false"]) },
    Row {
        narrower: &["false"],
        wider: &[],
        ..row("mcp.finish_background", "true", ["false", "true", "false", "true"])
    },
    Row { narrower: &[], wider: &["true"], ..row("mcp.nested", "false", ["true", "false", "true", "false"]) },
    Row {
        narrower: &["\"plan\""],
        wider: &["\"accept-edits\"", "\"bypass\""],
        ..row("permissions.mode", "\"default\"", ["\"plan\"", "\"accept-edits\"", "\"bypass\"", "\"plan\""])
    },
    Row { narrower: &[], wider: &["true"], ..row("shell.open_network", "false", ["true", "false", "true", "false"]) },
    Row { narrower: &[], wider: &["1", "31"], ..row("journal.retention_days", "30", ["1", "2", "3", "0"]) },
    Row { narrower: &["0", "4"], wider: &["6"], ..row("llm.max_retries", "5", ["0", "3", "1", "2"]) },
    Row { narrower: &[], wider: &["1", "499", "501"], ..row("llm.retry_base_ms", "500", ["1", "4", "2", "3"]) },
    Row { narrower: &[], wider: &["59", "61"], ..row("llm.idle_timeout_seconds", "60", ["7", "6", "8", "9"]) },
];

/// Fields of a route, which an untrusted project cannot set.
static ROUTE: [Row; 9] = [
    Row { wider: &["\"x\""], ..row("model", "(not set)", ["\"a\"", "\"p\"", "\"b\"", "\"c\""]) },
    Row { wider: &["\"HOME\""], ..row("api_key_env", "(not set)", ["\"A\"", "\"P\"", "\"B\"", "\"C\""]) },
    Row {
        wider: &["\"http://127.0.0.1:9\""],
        ..row(
            "base_url",
            "(not set)",
            ["\"http://127.0.0.1:1\"", "\"http://127.0.0.1:4\"", "\"http://127.0.0.1:2\"", "\"http://127.0.0.1:3\""],
        )
    },
    Row {
        wider: &["\"gemini\""],
        ..row("wire", "(not set)", ["\"anthropic\"", "\"openai-responses\"", "\"gemini\"", "\"openai-chat\""])
    },
    row("window", "(not set)", ["1000", "4000", "2000", "3000"]),
    row("max_output", "(not set)", ["100", "400", "200", "300"]),
    row("requests_per_minute", "(not set)", ["100", "400", "200", "300"]),
    row("tokens_per_minute", "(not set)", ["100", "400", "200", "300"]),
    row("max_connections", "(not set)", ["1", "4", "2", "3"]),
];

const ROUTES: [&str; 3] = ["main", "light", "big_one"];

/// Every setting, those of families under all names of the test.
fn rows() -> Vec<(String, &'static Row)> {
    static ALIAS: Row = Row { wider: &["\"x\""], ..row("aliases.haiku", "", ["\"a\"", "\"p\"", "\"b\"", "\"c\""]) };
    let single = SINGLE.iter().map(|row| (row.key.to_owned(), row));
    let routes =
        ROUTES.iter().flat_map(|route| ROUTE.iter().map(move |row| (format!("routes.{route}.{}", row.key), row)));
    single.chain(routes).chain([(ALIAS.key.to_owned(), &ALIAS)]).collect()
}

/// Value and origin of a setting in `config show`; `None` if it is not listed.
fn listed(text: &str, key: &str) -> Option<(String, String)> {
    let line = text.lines().find(|line| line.starts_with(&format!("{key} ")))?;
    let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
    Some((columns[1].to_owned(), columns[2].to_owned()))
}

fn shown(text: &str, key: &str) -> (String, String) {
    listed(text, key).unwrap_or_else(|| panic!("{key}: {text}"))
}

/// Value as the table shows it: a URL has no quotes.
fn as_shown(key: &str, value: &str) -> String {
    if key.ends_with("base_url") { value.trim_matches('"').to_owned() } else { value.to_owned() }
}

fn in_file(key: &str, value: &str) -> String {
    match key.rsplit_once('.') {
        Some((section, name)) => format!("# a comment\n[{section}]\n{name} = {value}\n"),
        None => format!("# a comment\n\n{key} = {value}\n"),
    }
}

#[test]
fn every_key_is_flipped_by_both_files_the_environment_and_a_flag_in_this_order() {
    for (key, row) in rows() {
        let world = World::new();
        let show = |args: &[&str], env: &[(&str, &str)]| {
            let ended = world.sortie(args).envs(env.iter().copied()).run();
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{key}");
            listed(&ended.stdout, &key)
        };
        let [file, project, variable, flag] = row.values;
        let value = |value: &str| as_shown(&key, value);
        let default = show(&["config", "show"], &[]);
        // A route or an alias without a special name exists only if configured.
        let is_free = key.starts_with("routes.big_one") || key.starts_with("aliases");
        assert_eq!(default, (!is_free).then(|| (row.default.to_owned(), "default".to_owned())), "{key}");

        let path = world.config(&in_file(&key, file));
        assert_eq!(show(&["config", "show"], &[]), Some((value(file), format!("{}:3", path.display()))));

        world.write("workspace/.sortie/config.toml", &in_file(&key, project));
        let shown = show(&["config", "show", "--trust"], &[]);
        assert_eq!(shown, Some((value(project), ".sortie/config.toml:3".to_owned())));

        let name = format!("SORTIE_{}", key.replace('.', "__").to_uppercase());
        let env = [(name.as_str(), variable.trim_matches('"'))];
        assert_eq!(show(&["config", "show", "--trust"], &env), Some((value(variable), name.clone())));

        let set = format!("{key}={}", flag.trim_matches('"'));
        let by_flag = Some((value(flag), "--set".to_owned()));
        assert_eq!(show(&["--set", &set, "--trust", "config", "show"], &env), by_flag);
        assert_eq!(show(&["config", "show", "--trust", "--set", &set], &env), by_flag);
    }
}

#[test]
fn an_untrusted_project_makes_every_key_narrower_and_none_wider() {
    for (key, row) in rows() {
        let world = World::new();
        let default = listed(&world.sortie(["config", "show"]).run().stdout, &key);
        for narrower in row.narrower {
            world.write("workspace/.sortie/config.toml", &in_file(&key, narrower));
            let ended = world.sortie(["config", "show"]).run();
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{key} = {narrower}");
            let expected = ((*narrower).to_owned(), ".sortie/config.toml:3".to_owned());
            assert_eq!(shown(&ended.stdout, &key), expected);
        }
        for wider in row.wider {
            world.write("workspace/.sortie/config.toml", &in_file(&key, wider));
            let ended = world.sortie(["config", "show"]).run();
            assert_eq!((ended.code, listed(&ended.stdout, &key)), (0, default.clone()), "{key} = {wider}");
            let named = format!("ignored: `{key}` (.sortie/config.toml:3): this project is not trusted;");
            assert!(ended.stderr.contains(&named) && ended.stderr.contains("`sortie trust`"), "{}", ended.stderr);
            let aside = format!("  {key} = {}  (.sortie/config.toml:3", as_shown(&key, wider));
            assert!(ended.stdout.contains(&aside), "{}", ended.stdout);
        }
        // Setting the default changes nothing and causes no warning.
        if let Some((value, _)) = default.filter(|(value, _)| value != "(not set)") {
            world.write("workspace/.sortie/config.toml", &in_file(&key, &value));
            let ended = world.sortie(["config", "show"]).run();
            assert_eq!((shown(&ended.stdout, &key).1.as_str(), ended.stderr.as_str()), ("default", ""), "{key}");
        }
    }
}

#[test]
fn a_project_is_compared_with_the_users_file_and_the_environment_overrides_both() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = 7\nmax_children = 3\nenabled = false\n");
    world.write("workspace/.sortie/config.toml", "[task_tool]\nmax_depth = 5\nmax_children = 4\nenabled = true\n");
    let ended = world.sortie(["config", "show"]).run();
    let values =
        ["max_depth", "max_children", "enabled"].map(|key| shown(&ended.stdout, &format!("task_tool.{key}")).0);
    assert_eq!(values, ["5", "3", "false"], "{}", ended.stdout);
    let ended = world.sortie(["config", "show"]).env("SORTIE_TASK_TOOL__MAX_DEPTH", "9").run();
    assert_eq!(shown(&ended.stdout, "task_tool.max_depth").0, "9");
}

#[test]
fn the_table_of_this_test_has_every_key() {
    let ended = World::new().sortie(["config", "show"]).env("SORTIE_ROUTES__BIG_ONE__WIRE", "anthropic").run();
    let rows_shown = ended.stdout.lines().filter_map(|line| line.split_once("  #")?.0.split_once(' '));
    let keys: Vec<&str> = rows_shown.map(|(key, _)| key).collect();
    let mut tested: Vec<String> =
        rows().into_iter().map(|(key, _)| key).filter(|key| !key.starts_with("aliases")).collect();
    tested.extend(LISTS.iter().map(|list| list.key.to_owned()));
    // They have tests of their own: only files can declare them.
    tested.push("hooks".to_owned());
    tested.extend(ROUTES.map(|route| format!("routes.{route}.api_key")));
    tested.sort_unstable_by_key(|key| keys.iter().position(|known| known == key));
    assert_eq!(keys, tested);
}

#[test]
fn the_short_variables_set_main_and_light_and_the_long_ones_override_them() {
    let world = World::new();
    let variables = [
        ("model", "LLM_MODEL_ID", "m"),
        ("api_key", "LLM_API_KEY", "k"),
        ("base_url", "LLM_BASE_URL", "http://127.0.0.1:1"),
        ("wire", "LLM_WIRE", "anthropic"),
    ];
    for (field, short, value) in variables {
        for (route, short) in [("main", short.to_owned()), ("light", format!("LIGHT_{short}"))] {
            let key = format!("routes.{route}.{field}");
            let long = format!("SORTIE_{}", key.replace('.', "__").to_uppercase());
            let ended = world.sortie(["config", "show"]).env(&short, value).run();
            assert_eq!((shown(&ended.stdout, &key).1, ended.stderr.as_str()), (short.clone(), ""));
            let ended = world.sortie(["config", "show"]).env(&short, value).env(&long, value).run();
            assert_eq!(shown(&ended.stdout, &key).1, long);
            let ended = world.sortie(["config", "show"]).env(&short, "").run();
            assert_eq!(shown(&ended.stdout, &key).1, "default", "an empty variable is none");
        }
    }
}

#[test]
fn keys_are_masked_wherever_they_come_from() {
    let world = World::new();
    world.config("[routes.main]\napi_key = \"canary-one\"\nbase_url = \"https://user:canary-two@host.example/v1?k=canary-three\"\n");
    world.write("workspace/.sortie/config.toml", "[routes.light]\napi_key = \"canary-six\"\n[routes.main]\nbase_url = \"https://canary-seven@host.example/?canary\"\n");
    let env_file = world.write("keys.env", "LLM_API_KEY=canary-four\n");
    let rows = [
        vec!["config", "show"],
        vec!["config", "show", "--trust"],
        vec!["config", "show", "--env-file", env_file.to_str().unwrap()],
        vec!["trust", "--dry-run"],
    ];
    for args in rows {
        let ended = world.sortie(&args).env("ANTHROPIC_API_KEY", "canary-five").run();
        assert_eq!(ended.code, 0);
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("canary"), "{ended:#?}");
        assert!(ended.stdout.contains("********"), "{ended:#?}");
        assert!(ended.stdout.contains("host.example"), "{ended:#?}");
    }
}

#[test]
fn the_whole_table_as_a_person_sees_it() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = 1\n\n[routes.main]\nmodel = \"claude-x\"\napi_key_env = \"MY_KEY\"\n");
    world.write(
        "workspace/.sortie/config.toml",
        "[task_tool]\nmax_children = 9\nmax_concurrent = 99\n[aliases]\nhaiku = \"x\"\n[llm]\nretry_base_ms = 1\n",
    );
    let ended = world
        .sortie(["config", "show"])
        .env("MY_KEY", "secret")
        .env("SORTIE_LLM__MAX_RETRIES", "9")
        .env("SORTIE_ALIASES__FAST", "light")
        .env("LIGHT_LLM_MODEL_ID", "claude-y")
        .run();
    expect![[r#"
        exit 0
        --- stdout
        workspace  <dir>/workspace
        config     <dir>/home/.config/sortie/config.toml
        project    .sortie/config.toml
        home       <dir>/state
        trust      not trusted; its files can only narrow settings
        model      claude-x over anthropic at https://api.anthropic.com, key from MY_KEY
        light      claude-y over anthropic at https://api.anthropic.com, key from MY_KEY

        contract                           (not set)   default                                   # JSON dialect of the Task tool; `sortie` if not set, see `sortie --help`
        hooks                              (not set)   default                                   # programs to run when a task starts, ends or asks; all layers add up
        task_tool.enabled                  true        default                                   # let agents start sub-agents
        task_tool.max_depth                1           <dir>/home/.config/sortie/config.toml:2  # levels of sub-agents below the main agent
        task_tool.default_timeout_seconds  300         default                                   # time limit of a sub-agent; a call can ask for less
        task_tool.max_tokens               (not set)   default                                   # token limit of each delegated task, with its descendants
        task_tool.max_cost_usd             (not set)   default                                   # cost limit of each delegated task; models with a known price only
        task_tool.model                    (not set)   default                                   # model of sub-agents if neither call nor agent names one; `auto` picks main or light
        task_tool.max_concurrent           20          default                                   # sub-agents that run at once; others wait
        task_tool.max_children             9           .sortie/config.toml:2                     # sub-agents that one run may start in total
        task_tool.delegations_per_minute   (not set)   default                                   # sub-agents that may start within a minute; others are refused
        task_tool.max_prompt_bytes         1048576     default                                   # longest accepted prompt
        task_tool.enable_verbose_logging   false       default                                   # print a line on stderr for each call of a sub-agent
        task_tool.allow_model_override     true        default                                   # let calls choose a model
        task_tool.background               true        default                                   # let calls start sub-agents in the background
        task_tool.resume                   true        default                                   # let calls resume sub-agents that have ended
        task_tool.resume_days              7           default                                   # days in which calls can resume a sub-agent; `sortie resume` always can
        task_tool.cache                    false       default                                   # reuse a read-only sub-agent's result if request and files are unchanged
        task_tool.inherit_context_files    false       default                                   # also give context files such as AGENTS.md to sub-agents
        task_tool.context_file_bytes       16384       default                                   # bytes read from context files such as AGENTS.md
        run.max_tokens                     (not set)   default                                   # token limit of a `sortie run`, sub-agents included
        run.max_cost_usd                   (not set)   default                                   # cost limit of a `sortie run`; models with a known price only
        run.timeout_seconds                (not set)   default                                   # time limit of a `sortie run`
        agents.builtin                     false       default                                   # offer built-in agents in the contract `result`, which otherwise has none
        mcp.finish_background              true        default                                   # let background tasks of `sortie mcp` go on after its client has gone
        mcp.nested                         false       default                                   # let agents use Sortie itself as an MCP server, within the limits of their run
        permissions.mode                   "default"   default                                   # permission mode: plan, default, accept-edits or bypass
        permissions.allow                  (not set)   default                                   # rules for calls that need no approval; all layers add up
        permissions.ask                    (not set)   default                                   # rules for calls that always need approval
        permissions.deny                   (not set)   default                                   # rules for calls that are always refused
        permissions.add_dirs               (not set)   default                                   # directories outside the workspace that tools may access
        permissions.answer_seconds         300         default                                   # approval timeout of a background sub-agent; no answer counts as no
        web.private                        (not set)   default                                   # local or private hosts, addresses and networks that WebFetch may reach
        shell.open_network                 false       default                                   # give commands direct network access if their agent may fetch from any host
        journal.retention_days             30          default                                   # days to keep tasks after they end; 0 keeps them until `sortie tasks prune`
        llm.max_retries                    9           SORTIE_LLM__MAX_RETRIES                   # retries of a model call, never past the deadline
        llm.retry_base_ms                  500         default                                   # wait before the first retry; it doubles each time
        llm.idle_timeout_seconds           60          default                                   # retry a model call after this long without output
        routes.main.model                  "claude-x"  <dir>/home/.config/sortie/config.toml:5  # model id, as its provider calls it
        routes.main.api_key                (not set)   default                                   # API key
        routes.main.api_key_env            "MY_KEY"    <dir>/home/.config/sortie/config.toml:6  # variable that holds the API key
        routes.main.base_url               (not set)   default                                   # URL of the provider or any compatible server
        routes.main.wire                   (not set)   default                                   # API of the endpoint; guessed from URL and model if not set
        routes.main.window                 (not set)   default                                   # context window in tokens; longer conversations are compacted
        routes.main.max_output             (not set)   default                                   # most tokens of one reply
        routes.main.requests_per_minute    (not set)   default                                   # rate limit in requests; others wait
        routes.main.tokens_per_minute      (not set)   default                                   # rate limit in tokens, input plus output; other calls wait
        routes.main.max_connections        (not set)   default                                   # model calls at once; others wait
        routes.light.model                 "claude-y"  LIGHT_LLM_MODEL_ID                        # model id, as its provider calls it
        routes.light.api_key               (not set)   default                                   # API key
        routes.light.api_key_env           (not set)   default                                   # variable that holds the API key
        routes.light.base_url              (not set)   default                                   # URL of the provider or any compatible server
        routes.light.wire                  (not set)   default                                   # API of the endpoint; guessed from URL and model if not set
        routes.light.window                (not set)   default                                   # context window in tokens; longer conversations are compacted
        routes.light.max_output            (not set)   default                                   # most tokens of one reply
        routes.light.requests_per_minute   (not set)   default                                   # rate limit in requests; others wait
        routes.light.tokens_per_minute     (not set)   default                                   # rate limit in tokens, input plus output; other calls wait
        routes.light.max_connections       (not set)   default                                   # model calls at once; others wait
        aliases.fast                       "light"     SORTIE_ALIASES__FAST                      # model id or route that this name stands for

        Ignored, because this project's files can only narrow settings until `sortie trust`:
          task_tool.max_concurrent = 99  (.sortie/config.toml:3, not narrower than 20)
          aliases.haiku = "x"  (.sortie/config.toml:5, does not count from a project until it is trusted)
          llm.retry_base_ms = 1  (.sortie/config.toml:7, does not count from a project until it is trusted)
        --- stderr
        warning: ignored: `task_tool.max_concurrent` (.sortie/config.toml:3), `aliases.haiku` (.sortie/config.toml:5), `llm.retry_base_ms` (.sortie/config.toml:7): this project is not trusted; look at .sortie/config.toml, then run `sortie trust`
    "#]].assert_eq(&ended.transcript());
}

#[test]
fn even_an_untrusted_project_can_narrow_the_choices_of_a_call() {
    let world = World::new();
    let task =
        || world.sortie(["task", "--description", "d", "--prompt", "where is login?", "--model", "offline"]).run();
    assert_eq!(task().code, 0);
    world.write("workspace/.sortie/config.toml", "[task_tool]\nallow_model_override = false\n");
    let refused = task();
    assert_eq!(refused.stdout_json()["error"]["code"], "model_override", "{refused:#?}");
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
