//! Which model a run would use, by what is set; `config show` says it.

use expect_test::expect;

use crate::world::World;

/// The model line for variables and a configuration file.
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
    let rows: [(&str, &[(&str, &str)]); 18] = [
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
    ];
    let text: String = rows.iter().map(|(config, variables)| model(config, variables) + "\n").collect();
    expect![[r#"
        offline, the built-in rule-based model (no model is set)
        claude-sonnet-4-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
        gpt-5 over openai-chat at https://api.openai.com, key from OPENAI_API_KEY
        claude-sonnet-4-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
        claude-opus-4-1 over anthropic at https://api.anthropic.com, key from ANTHROPIC_API_KEY
        gpt-5-mini over openai-chat at https://api.openai.com, key from OPENAI_API_KEY
        local over openai-chat at http://127.0.0.1:9000, no key
        claude-local over anthropic at http://localhost:9000/v1, no key
        claude-x over openai-chat at http://[::1]:9000, no key
        claude-sonnet-4-5 over anthropic at https://api.anthropic.com, key from LLM_API_KEY
        file-model over openai-chat at https://file.example/v1, key from <dir>/home/.config/sortie/config.toml:4
        file-model over openai-chat at https://file.example/v1, key from <dir>/home/.config/sortie/config.toml:4
        env-model over openai-chat at https://file.example/v1, key from <dir>/home/.config/sortie/config.toml:4
        m over openai-chat at https://x.example, key from MY_KEY
        m over openai-chat at https://x.example, key from LLM_API_KEY
        gpt-5 over openai-chat at https://api.openai.com, key from OPENAI_API_KEY
        none: there is no key for https://anthropic.com.evil.example: LLM_API_KEY is not set
        none: there is no key for https://notanthropic.com: LLM_API_KEY is not set
    "#]]
    .assert_eq(&text);
}

#[test]
fn what_is_missing_is_named() {
    let rows: [(&str, &[(&str, &str)]); 10] = [
        ("", &[("LLM_BASE_URL", "https://x.example"), ("LLM_MODEL_ID", "m")]),
        ("", &[("LLM_MODEL_ID", "claude-x")]),
        ("", &[("LLM_MODEL_ID", "anything")]),
        ("", &[("LLM_BASE_URL", "http://127.0.0.1:1")]),
        // A key that may be anybody's goes nowhere unless it is said where.
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
