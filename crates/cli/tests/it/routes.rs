//! The model that a run would use, by settings; `config show` prints it.

use expect_test::{Expect, expect};

use crate::world::World;

/// Model line for variables and a configuration file.
fn model(config: &str, variables: &[(&str, &str)]) -> String {
    let world = World::new();
    world.config(config);
    let ended = world.sortie(["config", "show"]).envs(variables.iter().copied()).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{variables:?}");
    let line = ended.stdout.lines().find(|line| line.starts_with("model ")).unwrap();
    line.replace("model      ", "").replace(&world.path("").display().to_string(), "<dir>/")
}

#[test]
fn routes_come_from_llm_variables_then_the_file_then_the_providers_keys() {
    let file = "[routes.main]\nmodel = \"file-model\"\nbase_url = \"https://file.example/v1\"\napi_key = \"k\"\n";
    let key_in_env = "[routes.main]\nmodel = \"m\"\nbase_url = \"https://x.example\"\napi_key_env = \"MY_KEY\"\n";
    let rows: [(&str, &[(&str, &str)]); 20] = [
        ("", &[]),
        ("", &[("ANTHROPIC_API_KEY", "k")]),
        ("", &[("OPENAI_API_KEY", "k")]),
        ("", &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]),
        ("", &[("ANTHROPIC_API_KEY", "k"), ("LLM_MODEL_ID", "claude-opus-4-1")]),
        ("", &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"), ("LLM_MODEL_ID", "gpt-5-mini")]),
        ("", &[("LLM_BASE_URL", "http://127.0.0.1:9000"), ("LLM_MODEL_ID", "local")]),
        ("", &[("LLM_BASE_URL", "http://localhost:9000/v1"), ("LLM_MODEL_ID", "claude-local")]),
        ("", &[("LLM_BASE_URL", "http://[::1]:9000"), ("LLM_MODEL_ID", "claude-x"), ("LLM_WIRE", "openai-chat")]),
        ("", &[("LLM_BASE_URL", "https://api.anthropic.com"), ("LLM_API_KEY", "k")]),
        (file, &[]),
        (file, &[("ANTHROPIC_API_KEY", "k")]),
        (file, &[("LLM_MODEL_ID", "env-model")]),
        (key_in_env, &[("MY_KEY", "k")]),
        (key_in_env, &[("MY_KEY", "k"), ("LLM_API_KEY", "k")]),
        ("[routes.main]\napi_key_env = \"OPENAI_API_KEY\"\n", &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]),
        // A provider's key never goes to another host.
        (
            "",
            &[
                ("LLM_BASE_URL", "https://anthropic.com.evil.example"),
                ("LLM_MODEL_ID", "claude-x"),
                ("ANTHROPIC_API_KEY", "k"),
            ],
        ),
        ("", &[("LLM_BASE_URL", "https://notanthropic.com"), ("LLM_MODEL_ID", "x"), ("ANTHROPIC_API_KEY", "k")]),
        // A key in the address is a key.
        ("", &[("LLM_BASE_URL", "https://x.example/v1?subscription-key=k"), ("LLM_MODEL_ID", "x")]),
        ("", &[("LLM_BASE_URL", "https://me:secret@x.example/v1"), ("LLM_MODEL_ID", "x")]),
    ];
    let text: String = rows.iter().map(|(config, variables)| model(config, variables) + "\n").collect();
    expect![[r#"
        offline, the built-in rule-based model (no model is set)
        claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
        gpt-6.1-sol over openai-responses at https://api.openai.com, key from OPENAI_API_KEY
        claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
        claude-opus-4-1 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
        gpt-5-mini over openai-chat at https://api.openai.com, key from OPENAI_API_KEY
        local over openai-chat at http://127.0.0.1:9000, no key
        claude-local over anthropic at http://localhost:9000/v1, no key
        claude-x over openai-chat at http://[::1]:9000, no key
        claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from LLM_API_KEY
        file-model over openai-chat at https://file.example/v1, key from <dir>/home/.config/sortie/config.toml:4
        file-model over openai-chat at https://file.example/v1, key from <dir>/home/.config/sortie/config.toml:4
        env-model over openai-chat at https://file.example/v1, key from <dir>/home/.config/sortie/config.toml:4
        m over openai-chat at https://x.example, key from MY_KEY
        m over openai-chat at https://x.example, key from LLM_API_KEY
        gpt-6.1-sol over openai-responses at https://api.openai.com, key from OPENAI_API_KEY
        none: there is no key for https://anthropic.com.evil.example: LLM_API_KEY is not set
        none: there is no key for https://notanthropic.com: LLM_API_KEY is not set
        x over openai-chat at https://x.example/v1, key in the address
        x over openai-chat at https://x.example/v1, key in the address
    "#]]
    .assert_eq(&text);
}

#[test]
fn missing_parts_of_a_route_are_named() {
    let rows: [(&str, &[(&str, &str)]); 10] = [
        ("", &[("LLM_BASE_URL", "https://x.example"), ("LLM_MODEL_ID", "m")]),
        ("", &[("LLM_MODEL_ID", "claude-x")]),
        ("", &[("LLM_MODEL_ID", "anything")]),
        ("", &[("LLM_BASE_URL", "http://127.0.0.1:1")]),
        // A key of unknown owner goes nowhere without an address.
        ("", &[("LLM_API_KEY", "k")]),
        ("", &[("LLM_API_KEY", "k"), ("LLM_MODEL_ID", "anything")]),
        ("", &[("LLM_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]),
        ("[routes.main]\napi_key_env = \"MY_KEY\"\n", &[("MY_KEY", "k"), ("OPENAI_API_KEY", "k")]),
        ("[routes.main]\napi_key_env = \"MY_KEY\"\nmodel = \"claude-x\"\n", &[]),
        ("[routes.main]\nmodel = \"claude-x\"\napi_key_env = \"MY_KEY\"\napi_key = \"k\"\n", &[("MY_KEY", "k")]),
    ];
    let text: String = rows.iter().map(|(config, variables)| model(config, variables) + "\n").collect();
    expect![[r#"
        none: there is no key for https://x.example: LLM_API_KEY is not set
        none: there is no key for https://api.anthropic.com: ANTHROPIC_API_KEY is not set
        none: nothing says where the model "anything" is served: LLM_BASE_URL is not set, nor LLM_WIRE
        none: no model is set for http://127.0.0.1:1
        none: nothing says what the key in LLM_API_KEY is for: LLM_MODEL_ID is not set, nor LLM_BASE_URL or LLM_WIRE
        none: nothing says where the model "anything" is served: LLM_BASE_URL is not set, nor LLM_WIRE
        none: nothing says what the key in LLM_API_KEY is for: LLM_MODEL_ID is not set, nor LLM_BASE_URL or LLM_WIRE
        none: nothing says what the key in <dir>/home/.config/sortie/config.toml:2 is for: LLM_MODEL_ID is not set, nor LLM_BASE_URL or LLM_WIRE
        none: the variable MY_KEY is not set, but `routes.main.api_key_env` (<dir>/home/.config/sortie/config.toml:2) names it
        none: `routes.main.api_key` (<dir>/home/.config/sortie/config.toml:4) and `routes.main.api_key_env` (<dir>/home/.config/sortie/config.toml:3) are both set; keep one
    "#]].assert_eq(&text);
}

/// Lines of all routes for variables and a configuration file.
fn routes(config: &str, variables: &[(&str, &str)]) -> String {
    let world = World::new();
    world.config(config);
    let ended = world.sortie(["config", "show"]).envs(variables.iter().copied()).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{variables:?}");
    let head = ended.stdout.split("\n\n").next().unwrap();
    let lines = head.lines().skip_while(|line| !line.starts_with("model "));
    let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n");
    lines.collect::<String>().replace(&world.path("").display().to_string(), "<dir>/")
}

fn check(rows: &[(&str, &[(&str, &str)])], expected: &Expect) {
    let text: Vec<String> = rows.iter().map(|(config, variables)| routes(config, variables)).collect();
    expected.assert_eq(&text.join("\n"));
}

#[test]
fn google_is_known_by_its_key_its_host_and_its_models() {
    check(
        &[
            ("", &[("GEMINI_API_KEY", "k")]),
            ("", &[("GOOGLE_API_KEY", "k")]),
            ("", &[("GOOGLE_API_KEY", "k"), ("GEMINI_API_KEY", "k"), ("LLM_MODEL_ID", "gemini-2.5-flash")]),
            ("", &[("GOOGLE_API_KEY", "k"), ("OPENAI_API_KEY", "k")]),
            ("", &[("LLM_WIRE", "gemini"), ("LLM_API_KEY", "k")]),
            (
                "",
                &[("LLM_BASE_URL", "https://generativelanguage.googleapis.com/v1beta/openai"), ("GEMINI_API_KEY", "k")],
            ),
            ("", &[("LLM_BASE_URL", "https://storage.googleapis.com"), ("GEMINI_API_KEY", "k"), ("LLM_MODEL_ID", "m")]),
        ],
        &expect![[r#"
            model gemini-3.8-flash over gemini at https://generativelanguage.googleapis.com, key from GEMINI_API_KEY

            model gemini-3.8-flash over gemini at https://generativelanguage.googleapis.com, key from GOOGLE_API_KEY

            model gemini-2.5-flash over gemini at https://generativelanguage.googleapis.com, key from GEMINI_API_KEY

            model gpt-6.1-sol over openai-responses at https://api.openai.com, key from OPENAI_API_KEY

            model gemini-3.8-flash over gemini at https://generativelanguage.googleapis.com, key from LLM_API_KEY

            model gemini-3.8-flash over openai-chat at https://generativelanguage.googleapis.com/v1beta/openai, key from GEMINI_API_KEY

            model none: there is no key for https://storage.googleapis.com: LLM_API_KEY is not set
        "#]],
    );
}

#[test]
fn openai_is_spoken_to_over_chat_except_where_only_responses_serves_a_model() {
    let ids = [
        "gpt-5",
        "gpt-5-mini",
        "o3",
        "o4-mini",
        "gpt-4.1",
        "gpt-5-pro",
        "gpt-5-pro-2025-10-06",
        "o1-pro",
        "o3-pro",
        "o3-deep-research",
        "gpt-5-codex",
        "gpt-5.1-codex-max",
        "codex-mini-latest",
        "gpt-5.4",
        "gpt-5.5",
        "gpt-5.6-terra",
        "gpt-6-luna",
        "gpt-9",
        "ft:gpt-4o:us::7",
    ];
    let wire = |variables: &[(&str, &str)]| {
        let line = routes("", variables);
        line.split(" over ").nth(1).and_then(|rest| rest.split(" at ").next()).unwrap().to_owned()
    };
    let wire_of = |id: &&str| format!("{id}: {}", wire(&[("OPENAI_API_KEY", "k"), ("LLM_MODEL_ID", id)]));
    let text = ids.iter().map(wire_of).collect::<Vec<_>>().join("\n");
    expect![[r#"
        gpt-5: openai-chat
        gpt-5-mini: openai-chat
        o3: openai-chat
        o4-mini: openai-chat
        gpt-4.1: openai-chat
        gpt-5-pro: openai-responses
        gpt-5-pro-2025-10-06: openai-responses
        o1-pro: openai-responses
        o3-pro: openai-responses
        o3-deep-research: openai-responses
        gpt-5-codex: openai-responses
        gpt-5.1-codex-max: openai-responses
        codex-mini-latest: openai-responses
        gpt-5.4: openai-chat
        gpt-5.5: openai-responses
        gpt-5.6-terra: openai-responses
        gpt-6-luna: openai-responses
        gpt-9: openai-responses
        ft:gpt-4o:us::7: openai-chat"#]]
    .assert_eq(&text);
    let said = [("OPENAI_API_KEY", "k"), ("LLM_MODEL_ID", "gpt-5"), ("LLM_WIRE", "openai-responses")];
    assert_eq!(wire(&said), "openai-responses");
    let elsewhere = [("LLM_BASE_URL", "http://127.0.0.1:1"), ("LLM_MODEL_ID", "gpt-5-codex")];
    assert_eq!(wire(&elsewhere), "openai-chat", "what another server has is not known");
}

#[test]
fn light_with_only_a_model_is_served_by_mains_host_unless_its_name_belongs_elsewhere() {
    let gateway: &[(&str, &str)] =
        &[("LLM_BASE_URL", "https://gateway.example/v1"), ("LLM_API_KEY", "k"), ("LLM_MODEL_ID", "big")];
    let with = |more: &[(&'static str, &'static str)]| [gateway, more].concat();
    let rows: [(&str, Vec<(&str, &str)>); 10] = [
        ("", vec![("ANTHROPIC_API_KEY", "k"), ("LIGHT_LLM_MODEL_ID", "claude-haiku-4-5")]),
        ("", vec![("ANTHROPIC_API_KEY", "k"), ("LIGHT_LLM_MODEL_ID", "something")]),
        ("", vec![("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "o"), ("LIGHT_LLM_MODEL_ID", "gpt-5-mini")]),
        ("", vec![("ANTHROPIC_API_KEY", "k"), ("LIGHT_LLM_MODEL_ID", "gpt-5-mini")]),
        ("", vec![("OPENAI_API_KEY", "k"), ("LLM_MODEL_ID", "gpt-5-codex"), ("LIGHT_LLM_MODEL_ID", "gpt-5-mini")]),
        ("", with(&[("LIGHT_LLM_MODEL_ID", "claude-haiku-4-5")])),
        ("", with(&[("LIGHT_LLM_MODEL_ID", "small"), ("LIGHT_LLM_WIRE", "anthropic")])),
        ("[routes.light]\nwindow = 8000\nmodel = \"small\"\n", with(&[])),
        ("", vec![("LIGHT_LLM_MODEL_ID", "small")]),
        ("", vec![("LIGHT_LLM_MODEL_ID", "small"), ("LIGHT_LLM_BASE_URL", "http://127.0.0.1:9")]),
    ];
    let rows: Vec<(&str, &[(&str, &str)])> = rows.iter().map(|(config, variables)| (*config, &variables[..])).collect();
    check(
        &rows,
        &expect![[r#"
            model claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
            light claude-haiku-4-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY

            model claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
            light something over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY

            model claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
            light gpt-5-mini over openai-chat at https://api.openai.com, key from OPENAI_API_KEY

            model claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
            light none: there is no key for https://api.openai.com: OPENAI_API_KEY is not set

            model gpt-5-codex over openai-responses at https://api.openai.com, key from OPENAI_API_KEY
            light gpt-5-mini over openai-chat at https://api.openai.com, key from OPENAI_API_KEY

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            light claude-haiku-4-5 over openai-chat at https://gateway.example/v1, key from LLM_API_KEY

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            light small over anthropic at https://gateway.example/v1, key from LLM_API_KEY

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            light small over openai-chat at https://gateway.example/v1, key from LLM_API_KEY

            model offline, the built-in rule-based model (no model is set)
            light none: nothing says where the model "small" is served: LIGHT_LLM_BASE_URL is not set, nor LIGHT_LLM_WIRE

            model that of `light` (no main route is set)
            light small over openai-chat at http://127.0.0.1:9, no key
        "#]],
    );
}

#[test]
fn a_key_goes_only_to_the_host_that_it_was_set_for() {
    let main: &[(&str, &str)] =
        &[("LLM_BASE_URL", "https://gateway.example/v1"), ("LLM_API_KEY", "k"), ("LLM_MODEL_ID", "big")];
    let file = "[routes.main]\nmodel = \"m\"\nbase_url = \"https://one.example/v1\"\napi_key = \"k\"\n";
    let rows: [(&str, Vec<(&str, &str)>); 12] = [
        // Another host, another port, another scheme: not main's key.
        ("", [main, &[("LIGHT_LLM_BASE_URL", "https://other.example"), ("LIGHT_LLM_MODEL_ID", "s")]].concat()),
        ("", [main, &[("LIGHT_LLM_BASE_URL", "https://gateway.example:8443"), ("LIGHT_LLM_MODEL_ID", "s")]].concat()),
        ("[routes.big]\nmodel = \"b\"\nbase_url = \"http://gateway.example/v1\"\n", main.to_vec()),
        // The same host under another path: main's key.
        ("[routes.big]\nmodel = \"b\"\nbase_url = \"https://gateway.example/v2\"\n", main.to_vec()),
        // Its own key without an address: nowhere, not to main.
        ("", [main, &[("LIGHT_LLM_API_KEY", "l"), ("LIGHT_LLM_MODEL_ID", "s")]].concat()),
        // A named route takes nothing of main's except the key for the same host.
        ("[routes.big]\nmodel = \"b\"\n", main.to_vec()),
        // The file's key is for the file's address, not for its replacement in a higher layer.
        (file, vec![("LLM_BASE_URL", "https://two.example/v1")]),
        (file, vec![("LLM_BASE_URL", "http://127.0.0.1:9000")]),
        (file, vec![("LLM_BASE_URL", "https://one.example/other")]),
        (file, vec![("LLM_BASE_URL", "https://two.example/v1"), ("LLM_API_KEY", "k")]),
        ("[routes.main]\nmodel = \"claude-x\"\napi_key = \"k\"\n", vec![("LLM_BASE_URL", "https://two.example/v1")]),
        // A key without any address is for whatever address there is.
        ("[routes.main]\napi_key = \"k\"\n", vec![("LLM_BASE_URL", "https://two.example/v1"), ("LLM_MODEL_ID", "m")]),
    ];
    let rows: Vec<(&str, &[(&str, &str)])> = rows.iter().map(|(config, variables)| (*config, &variables[..])).collect();
    check(
        &rows,
        &expect![[r#"
            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            light none: there is no key for https://other.example: LIGHT_LLM_API_KEY is not set

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            light none: there is no key for https://gateway.example:8443: LIGHT_LLM_API_KEY is not set

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            big none: there is no key for http://gateway.example/v1: `routes.big.api_key` is not set

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            big b over openai-chat at https://gateway.example/v2, key from LLM_API_KEY

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            light none: nothing says where the model "s" is served: LIGHT_LLM_BASE_URL is not set, nor LIGHT_LLM_WIRE

            model big over openai-chat at https://gateway.example/v1, key from LLM_API_KEY
            big none: nothing says where the model "b" is served: `routes.big.base_url` is not set, nor `routes.big.wire`

            model none: the key in <dir>/home/.config/sortie/config.toml:4 was not set for https://two.example/v1, so it is not sent there

            model m over openai-chat at http://127.0.0.1:9000, no key

            model m over openai-chat at https://one.example/other, key from <dir>/home/.config/sortie/config.toml:4

            model m over openai-chat at https://two.example/v1, key from LLM_API_KEY

            model none: the key in <dir>/home/.config/sortie/config.toml:3 was not set for https://two.example/v1, so it is not sent there

            model m over openai-chat at https://two.example/v1, key from <dir>/home/.config/sortie/config.toml:2
        "#]],
    );
}

#[test]
fn named_routes_are_complete_or_the_missing_part_is_named() {
    check(
        &[
            (
                "[routes.a]\nmodel = \"claude-x\"\n[routes.b]\nmodel = \"gemini-x\"\napi_key = \"k\"\n\
                 [routes.c]\nmodel = \"local\"\nbase_url = \"http://127.0.0.1:1\"\n\
                 [routes.d]\nmodel = \"d\"\nwire = \"openai-responses\"\napi_key_env = \"D_KEY\"\n",
                &[("ANTHROPIC_API_KEY", "k"), ("D_KEY", "k")],
            ),
            ("[routes.a]\nmodel = \"claude-x\"\n", &[]),
            ("[routes.a]\nwindow = 1\n", &[]),
            ("[routes.a]\nbase_url = \"http://127.0.0.1:1\"\n", &[]),
            ("[routes.a]\napi_key = \"k\"\n", &[]),
            ("[routes.a]\napi_key_env = \"OPENAI_API_KEY\"\n", &[("OPENAI_API_KEY", "k")]),
            ("[routes.a]\nmodel = \"gpt-5\"\napi_key_env = \"NONE\"\n", &[]),
            ("", &[("SORTIE_ROUTES__A_B__MODEL", "gpt-5"), ("OPENAI_API_KEY", "k")]),
        ],
        &expect![[r#"
            model claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
            a claude-x over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
            b gemini-x over gemini at https://generativelanguage.googleapis.com, key from <dir>/home/.config/sortie/config.toml:5
            c local over openai-chat at http://127.0.0.1:1, no key
            d d over openai-responses at https://api.openai.com, key from D_KEY

            model offline, the built-in rule-based model (no model is set)
            a none: there is no key for https://api.anthropic.com: ANTHROPIC_API_KEY is not set

            model offline, the built-in rule-based model (no model is set)
            a none: nothing says what the route `a` leads to: `routes.a.model` is not set

            model offline, the built-in rule-based model (no model is set)
            a none: no model is set for http://127.0.0.1:1

            model offline, the built-in rule-based model (no model is set)
            a none: nothing says what the key in <dir>/home/.config/sortie/config.toml:2 is for: `routes.a.model` is not set, nor `routes.a.base_url` or `routes.a.wire`

            model gpt-6.1-sol over openai-responses at https://api.openai.com, key from OPENAI_API_KEY
            a none: no model is set for https://api.openai.com

            model offline, the built-in rule-based model (no model is set)
            a none: the variable NONE is not set, but `routes.a.api_key_env` (<dir>/home/.config/sortie/config.toml:3) names it

            model gpt-6.1-sol over openai-responses at https://api.openai.com, key from OPENAI_API_KEY
            a_b gpt-5 over openai-chat at https://api.openai.com, key from OPENAI_API_KEY
        "#]],
    );
}

#[test]
fn a_route_has_a_name_that_every_layer_can_write() {
    let world = World::new();
    for (section, message) in [
        ("routes.Big", "`routes.Big`: a route's name has small letters, digits, `-` and `_`, and begins with a letter"),
        (
            "routes.\"a b\"",
            "`routes.a b`: a route's name has small letters, digits, `-` and `_`, and begins with a letter",
        ),
        ("routes.1a", "`routes.1a`: a route's name has small letters, digits, `-` and `_`, and begins with a letter"),
        ("routes.offline", "`routes.offline`: this name is built in; choose another"),
        ("routes.auto", "`routes.auto`: this name is built in; choose another"),
    ] {
        let path = world.config(&format!("[{section}]\nmodel = \"m\"\n"));
        let ended = world.sortie(["config", "show"]).run();
        assert_eq!((ended.code, ended.stderr), (2, format!("error: {}:1: {message}\n", path.display())), "{section}");
    }
    world.config("[routes.light]\nmodle = \"m\"\n");
    let ended = world.sortie(["config", "show"]).run();
    assert!(ended.stderr.contains("did you mean `routes.light.model`?"), "{}", ended.stderr);
    let ended = world.sortie(["config", "show", "--set", "routes.OFFLINE.model=x"]).run();
    assert_eq!(ended.code, 2, "{ended:#?}");
}

#[test]
fn the_users_own_list_of_models_is_next_to_the_configuration() {
    let world = World::new();
    let entry = "[[models]]\nid = \"mine\"\nwindow = 4321\n";
    world.write("home/.config/sortie/models.toml", entry);
    let other = world.write("other/config.toml", "");
    let window = |args: &[&str]| {
        let ended = world.sortie(args).env("LLM_BASE_URL", "http://127.0.0.1:1").env("LLM_MODEL_ID", "mine").run();
        ended.stdout_json()["routes"][0]["window"].clone()
    };
    assert_eq!(window(&["models", "--output-format", "json"]), 4321);
    let other_args = ["models", "--output-format", "json", "--config", other.to_str().unwrap()];
    assert_eq!(window(&other_args), serde_json::Value::Null);
    world.write("other/models.toml", entry);
    assert_eq!(window(&other_args), 4321);
    let path = world.write("other/models.toml", "[[models]]\nid = \"mine\"\nwindows = 4321\n");
    let ended = world.sortie(other_args).run();
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains(&format!("{}:3", path.display())), "{}", ended.stderr);
}
