//! Aliases of models: the built-in ones, used by files of other tools, and the user's own.

use expect_test::expect;
use sortie_llm::WireKind;

use super::{LOCAL, aliased, anthropic, chosen, leads, named, openai, table};

#[test]
fn an_anthropic_main_route_serves_aliases_with_their_own_ids() {
    let routes = [anthropic("main", "main-model"), anthropic("light", "light-model")];
    leads(
        &table(&routes),
        &["haiku", "sonnet", "opus", "Sonnet"],
        &expect![[r#"
        haiku → main claude-haiku-4
        sonnet → main claude-sonnet-4
        opus → main claude-opus-4
        Sonnet → main claude-sonnet-4
    "#]],
    );
}

#[test]
fn at_anthropics_own_address_a_family_is_sent_as_an_id_that_exists() {
    let at = |base_url: &str, model: &str| table(&[named("main", WireKind::Anthropic, base_url, model)]);
    leads(
        &at("https://api.anthropic.com", "claude-opus-5-5"),
        &["haiku", "sonnet", "opus", "claude-sonnet-4", "claude-sonnet-4-5", "main"],
        &expect![[r#"
            haiku → main claude-haiku-4-5 (`claude-haiku-4` is not a model id at its provider: claude-haiku-4-5 serves (route main))
            sonnet → main claude-sonnet-4-6 (`claude-sonnet-4` is not a model id at its provider: claude-sonnet-4-6 serves (route main))
            opus → main claude-opus-4-8 (`claude-opus-4` is not a model id at its provider: claude-opus-4-8 serves (route main))
            claude-sonnet-4 → main claude-sonnet-4-6 (`claude-sonnet-4` is not a model id at its provider: claude-sonnet-4-6 serves (route main))
            claude-sonnet-4-5 → main claude-sonnet-4-5
            main → main claude-opus-5-5
        "#]],
    );
    let family = at("https://api.anthropic.com/v1", "claude-sonnet-4");
    expect!["main claude-sonnet-4-6 (`claude-sonnet-4` is not a model id at its provider: claude-sonnet-4-6 serves (route main))"].assert_eq(&chosen(&family, None, None));
    for elsewhere in ["https://gateway.example", "http://127.0.0.1:9/v1", "https://api.anthropic.com.example"] {
        assert_eq!(chosen(&at(elsewhere, "m"), Some("haiku"), None), "main claude-haiku-4", "{elsewhere}");
    }
}

#[test]
fn another_main_route_serves_aliases_with_its_own_models_and_a_notice() {
    let both = [openai("main", "gpt-5"), openai("light", "gpt-5-mini")];
    leads(
        &table(&both),
        &["haiku", "sonnet", "opus"],
        &expect![[r#"
        haiku → light gpt-5-mini (`haiku` is served by gpt-5-mini (route light): no Anthropic model is on the main route; set `haiku` in [aliases] to choose another)
        sonnet → main gpt-5 (`sonnet` is served by gpt-5 (route main): no Anthropic model is on the main route; set `sonnet` in [aliases] to choose another)
        opus → main gpt-5 (`opus` is served by gpt-5 (route main): no Anthropic model is on the main route; set `opus` in [aliases] to choose another)
    "#]],
    );
    leads(
        &table(&both[..1]),
        &["haiku", "opus"],
        &expect![[r#"
        haiku → main gpt-5 (`haiku` is served by gpt-5 (route main): no Anthropic model is on the main route; set `haiku` in [aliases] to choose another)
        opus → main gpt-5 (`opus` is served by gpt-5 (route main): no Anthropic model is on the main route; set `opus` in [aliases] to choose another)
    "#]],
    );
    leads(
        &table(&both[1..]),
        &["haiku", "opus"],
        &expect![[r#"
            haiku → light gpt-5-mini (`haiku` is served by gpt-5-mini (route light): no Anthropic model is on the main route; set `haiku` in [aliases] to choose another)
            opus → light gpt-5-mini (`opus` is served by gpt-5-mini (route light): no Anthropic model is on the main route; set `opus` in [aliases] to choose another)
        "#]],
    );
}

#[test]
fn aliases_of_other_tools_work_without_any_key() {
    leads(
        &table(&[]),
        &["haiku", "sonnet", "opus"],
        &expect![[r#"
        haiku → offline offline-rules (`haiku` is served by offline-rules (route offline): no main route is set; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL)
        sonnet → offline offline-rules (`sonnet` is served by offline-rules (route offline): no main route is set; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL)
        opus → offline offline-rules (`opus` is served by offline-rules (route offline): no main route is set; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL)
    "#]],
    );
}

#[test]
fn a_route_of_its_own_serves_an_alias() {
    let routes = [openai("main", "gpt-5"), openai("sonnet", "big"), anthropic("claude", "claude-opus-4")];
    leads(
        &table(&routes),
        &["sonnet", "opus"],
        &expect![[r#"
        sonnet → sonnet big
        opus → claude claude-opus-4
    "#]],
    );
}

#[test]
fn a_users_alias_is_binding() {
    let routes = [
        openai("main", "gpt-5"),
        openai("local", "qwen3:8b"),
        named("google", WireKind::Gemini, LOCAL, "gemini-2.5-pro"),
    ];
    let aliases = [
        ("haiku", "gpt-5-mini"),
        ("sonnet", "claude-sonnet-4"),
        ("quick", "local"),
        ("small", "light"),
        ("Free", "offline"),
        ("home", "qwen3:8b"),
        ("wide", "gemini-2.5-flash"),
        ("own", "our-model"),
    ];
    leads(
        &aliased(&routes, &aliases).unwrap(),
        &["haiku", "sonnet", "opus", "quick", "small", "free", "home", "wide", "own"],
        &expect![[r#"
            haiku → main gpt-5-mini
            sonnet → main gpt-5 (`sonnet` is served by gpt-5 (route main): no Anthropic model is on the main route; set `sonnet` in [aliases] to choose another)
            opus → main gpt-5 (`opus` is served by gpt-5 (route main): no Anthropic model is on the main route; set `opus` in [aliases] to choose another)
            quick → local qwen3:8b
            small → main gpt-5 (`small` is served by gpt-5 (route main): no route `light` is set; set LIGHT_LLM_MODEL_ID or [routes.light])
            free → offline offline-rules
            home → local qwen3:8b
            wide → google gemini-2.5-flash
            own → main our-model
        "#]],
    );
}

#[test]
fn aliases_that_lead_nowhere_are_refused() {
    let error = |aliases: &[(&str, &str)]| {
        let table = aliased(&[openai("main", "gpt-5"), openai("local", "qwen")], aliases);
        table.err().map_or_else(|| "fine".to_owned(), |error| error.to_string())
    };
    let rows = [
        error(&[("quick", "haiku")]),
        error(&[("a", "b"), ("b", "a")]),
        error(&[("a", "A")]),
        error(&[("haiku", "sonnet")]),
        error(&[("local", "gpt-5")]),
        error(&[("Main", "gpt-5")]),
        error(&[("light", "gpt-5")]),
        error(&[("offline", "gpt-5")]),
        error(&[("empty", "")]),
        error(&[("words", "a big one")]),
        error(&[("quick", "LOCAL"), ("slow", "light")]),
    ];
    expect![[r#"
        alias `quick` points to the alias `haiku`; let it name a model id or a route
        alias `a` points to the alias `b`; let it name a model id or a route
        alias `a` points to the alias `A`; let it name a model id or a route
        alias `haiku` points to the alias `sonnet`; let it name a model id or a route
        alias `local` has the name of a route; give it another
        alias `Main` has the name of a route; give it another
        alias `light` has the name of a route; give it another
        alias `offline` has the name of a route; give it another
        alias `empty` names ``, which is neither a model id nor a route
        alias `words` names `a big one`, which is neither a model id nor a route
        fine
    "#]]
    .assert_eq(&rows.map(|row| row + "\n").concat());
}
