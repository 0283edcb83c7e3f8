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
    let rows: [(&str, &[(&str, &str)]); 17] = [
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
    expect![[""]].assert_eq(&text);
}

#[test]
fn what_is_missing_is_named() {
    let rows: [(&str, &[(&str, &str)]); 6] = [
        ("", &[("LLM_BASE_URL", "https://x.example"), ("LLM_MODEL_ID", "m")]),
        ("", &[("LLM_MODEL_ID", "claude-x")]),
        ("", &[("LLM_MODEL_ID", "anything")]),
        ("", &[("LLM_BASE_URL", "http://127.0.0.1:1")]),
        ("[routes.main]\napi_key_env = \"MY_KEY\"\nmodel = \"claude-x\"\n", &[]),
        ("[routes.main]\napi_key_env = \"MY_KEY\"\napi_key = \"k\"\n", &[("MY_KEY", "k")]),
    ];
    let text: String = rows.iter().map(|(config, variables)| model(config, variables) + "\n").collect();
    expect![[""]].assert_eq(&text);
}
