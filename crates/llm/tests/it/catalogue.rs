//! The catalogue of models, a user's changes to it, and their effect on a call.

use expect_test::expect;
use sortie_llm::catalogue::{ModelFacts, Prices};
use sortie_llm::{Catalogue, ModelRequest, Models as _, Route, RouteSetup, RouteTable, WireKind};
use sortie_protocol::Message;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::caller::{ONE_TRY, call, open};
use crate::fixture::{request, route};

fn window(catalogue: &Catalogue, id: &str) -> Option<u64> {
    catalogue.lookup(id).and_then(|facts| facts.window)
}

fn extended(text: &str) -> Catalogue {
    Catalogue::builtin().extended_with(text, "models.toml").unwrap()
}

#[test]
fn the_built_in_list_can_be_read() {
    let read = Catalogue::builtin().extended_with(include_str!("../../models.toml"), "models.toml");
    assert_eq!(read.err(), None);
}

#[test]
fn well_known_models_are_known_with_their_provider_and_figures() {
    let known = Catalogue::builtin();
    let opus = ModelFacts {
        wire: Some(WireKind::Anthropic),
        window: Some(200_000),
        max_output: Some(64_000),
        prices: Prices { input: Some(5.0), output: Some(25.0), cache_read: Some(0.5), cache_write: Some(6.25) },
    };
    assert_eq!(known.lookup("claude-opus-4-5-20251101"), Some(opus));
    for (id, wire) in [
        ("claude-haiku-4", WireKind::Anthropic),
        ("claude-sonnet-4", WireKind::Anthropic),
        ("claude-opus-4", WireKind::Anthropic),
        ("gpt-5", WireKind::OpenAiChat),
        ("gpt-4o", WireKind::OpenAiChat),
        ("gpt-4.1-mini", WireKind::OpenAiChat),
        ("o4-mini", WireKind::OpenAiChat),
        ("gpt-5-codex", WireKind::OpenAiResponses),
        ("o3-pro", WireKind::OpenAiResponses),
        ("gemini-2.5-flash", WireKind::Gemini),
        ("gemini-3-pro-preview", WireKind::Gemini),
        ("claude-sonnet-5-5", WireKind::Anthropic),
        ("gpt-6.1-sol", WireKind::OpenAiResponses),
        ("gemini-3.8-flash", WireKind::Gemini),
    ] {
        let facts = known.lookup(id).unwrap();
        assert_eq!(facts.wire, Some(wire), "{id}");
        assert!(facts.window.is_some() && facts.max_output.is_some(), "{id}");
    }
    assert_eq!(known.lookup("qwen3:8b"), None);
}

#[test]
fn the_wire_of_a_gpt_is_the_one_that_serves_it_with_tools() {
    let wire = |id: &str| Catalogue::builtin().lookup(id).and_then(|facts| facts.wire);
    for id in
        ["gpt-3.5-turbo", "gpt-4", "gpt-4o-2024-11-20", "gpt-4.1", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.4-mini"]
    {
        assert_eq!(wire(id), Some(WireKind::OpenAiChat), "{id}");
    }
    for id in [
        "gpt-5.5",
        "gpt-5.5-2026-04-23",
        "gpt-5.6-terra",
        "gpt-5.10",
        "gpt-5.99",
        "gpt-6",
        "gpt-6.1-sol-2026-09-29",
        "gpt-7-mini",
        "gpt-10",
        "gpt-5-pro",
        "gpt-5.4-pro",
        "gpt-5.1-codex-max",
        "codex-mini-latest",
        "o1-pro",
        "o3-deep-research",
    ] {
        assert_eq!(wire(id), Some(WireKind::OpenAiResponses), "{id}");
    }
    assert_eq!(wire("gpt-oss-120b"), None, "OpenAI does not serve it");
}

#[test]
fn an_exact_id_beats_the_longest_prefix() {
    let catalogue = extended(
        "models = [{ id = 'x*', window = 1 }, { id = 'x-large*', window = 2 }, { id = 'x-large', window = 3 },
                   { id = 'family-*', window = 4 }]",
    );
    for (id, expected) in [
        ("x", Some(1)),
        ("x-small", Some(1)),
        ("x-large-2", Some(2)),
        ("x-large", Some(3)),
        ("X-Large", Some(3)),
        ("family", Some(4)),
        ("family-a", Some(4)),
        ("familiar", None),
        ("ax", None),
        ("é", None),
        ("", None),
    ] {
        assert_eq!(window(&catalogue, id), expected, "{id}");
    }
}

#[test]
fn an_unlisted_minor_version_does_not_get_another_ones_figures() {
    let facts = Catalogue::builtin().lookup("gpt-5.99").unwrap();
    assert_eq!(facts, ModelFacts { wire: Some(WireKind::OpenAiResponses), ..ModelFacts::default() });
}

#[test]
fn a_users_figures_override_the_built_in_ones_one_by_one() {
    let catalogue = extended("[[models]]\nid = 'gpt-5*'\nwindow = 7\ninput = 0\n");
    let built_in = Catalogue::builtin().lookup("gpt-5-mini").unwrap();
    let prices = Prices { input: Some(0.0), ..built_in.prices };
    assert_eq!(catalogue.lookup("gpt-5-mini"), Some(ModelFacts { window: Some(7), prices, ..built_in }));
    assert_eq!(catalogue.lookup("gpt-4o"), Catalogue::builtin().lookup("gpt-4o"));
}

#[test]
fn the_last_file_wins() {
    let first = extended("[[models]]\nid = 'm'\nwindow = 1\n");
    assert_eq!(window(&first.extended_with("[[models]]\nid = 'm'\nwindow = 2\n", "more.toml").unwrap(), "m"), Some(2));
}

#[test]
fn an_invalid_file_is_reported_with_the_line() {
    let told = |text: &str| match Catalogue::builtin().extended_with(text, "my/models.toml") {
        Ok(_) => "fine\n".to_owned(),
        Err(error) => format!("{error}\n"),
    };
    let rows = [
        "",
        "[[models]]\nid = 'a'\n",
        "[[models]]\nid = 'a'\nwindows = 5\n",
        "[[model]]\nid = 'a'\n",
        "[[models]]\n\nwindow = 5\n",
        "[[models]]\nid = 'a'\nwindow = -1\n",
        "[[models]]\nid = 'a'\nwindow = 0\n",
        "[[models]]\nid = 'a'\nmax_output = '9k'\n",
        "[[models]]\nid = 'a'\n\n\ninput = -0.5\n",
        "[[models]]\nid = 'a'\noutput = nan\n",
        "[[models]]\nid = 'a'\nwire = 'grpc'\n",
        "[[models]]\nid = '*'\n",
        "[[models]]\nid = 'a*b'\n",
        "[[models]]\nid = 'a'\n[[models]]\nid = 'A'\n",
        "[[models]]\nid = 'a\n",
        "[[models]]\nid = 'a'\nretired = 'yes'\n",
        "[[models]]\nid = 'a'\nretired = true\nmeans = 'b'\n",
    ];
    expect![[r#"
        fine
        fine
        my/models.toml:3: unknown field `windows`, expected one of `id`, `wire`, `window`, `max_output`, `input`, `output`, `cache_read`, `cache_write`, `retired`, `means`
        my/models.toml:1: unknown field `model`, expected `models`
        my/models.toml:1: missing field `id`
        my/models.toml:3: invalid value: integer `-1`, expected a nonzero u64
        my/models.toml:3: invalid value: integer `0`, expected a nonzero u64
        my/models.toml:3: invalid type: string "9k", expected a nonzero u64
        my/models.toml:5: -0.5 is not a price; write US dollars per million tokens, like 2.5
        my/models.toml:3: NaN is not a price; write US dollars per million tokens, like 2.5
        my/models.toml:3: unknown wire `grpc`; known wires: anthropic, gemini, openai-chat, openai-responses
        my/models.toml:2: `*` is not a model id; write one like `gpt-5` or, for a family, `gpt-5*`
        my/models.toml:2: `a*b` is not a model id; write one like `gpt-5` or, for a family, `gpt-5*`
        my/models.toml:4: `A` is described twice; keep one of the two
        my/models.toml:2: invalid literal string, expected `'`
        my/models.toml:3: invalid type: string "yes", expected a boolean
        fine
    "#]].assert_eq(&rows.map(told).concat());
}

/// Returns the cap in a request.
async fn sent_cap(own_model: &str, max_output: Option<u64>, asked: &str) -> Option<u64> {
    let server = ScriptedServer::start(Script::always(reply::text("Hi."))).unwrap();
    let route = Route { model: own_model.to_owned(), max_output, ..route(WireKind::Anthropic, &server.base_url()) };
    let setup = RouteSetup { routes: vec![route], settings: ONE_TRY, ..RouteSetup::default() };
    let table = RouteTable::new(setup).unwrap();
    let model = table.open(&table.choose(Some(asked), None).unwrap().choice).unwrap();
    let messages = [Message::user("Where is it?")];
    call(model.as_ref(), ModelRequest { model: asked, ..request(&[], &messages) }).await.1.unwrap();
    server.requests()[0].body["max_tokens"].as_u64()
}

#[tokio::test]
async fn a_required_cap_never_exceeds_the_models_limit() {
    for (own_model, max_output, asked, expected) in [
        ("some-model", None, "some-model", 16_000),
        ("claude-opus-4-5", None, "claude-opus-4-5", 16_000),
        ("claude-3-haiku-20240307", None, "claude-3-haiku-20240307", 4096),
        ("claude-opus-4-5", None, "claude-3-haiku-20240307", 4096),
        // A route's settings apply to its own model and to no other.
        ("claude-3-haiku-20240307", Some(64_000), "claude-3-haiku-20240307", 64_000),
        ("claude-opus-4-5", Some(64_000), "claude-3-haiku-20240307", 4096),
        ("claude-opus-4-5", Some(1000), "claude-3-haiku-20240307", 1000),
    ] {
        assert_eq!(sent_cap(own_model, max_output, asked).await, Some(expected), "{asked} on a route for {own_model}");
    }
}

async fn told_by_404(wire: WireKind, model: &str) -> String {
    let server = ScriptedServer::start(Script::always(reply::status(404))).unwrap();
    let model_of_another = Route { model: model.to_owned(), ..route(wire, &server.base_url()) };
    let messages = [Message::user("Where is it?")];
    let request = ModelRequest { model, ..request(&[], &messages) };
    let error = call(open(model_of_another, ONE_TRY).as_ref(), request).await.1.unwrap_err();
    let (_, next) = error.message.split_once("; ").unwrap();
    next.replace("(LLM_MODEL_ID or `model` in [routes.main])", "(…)")
        .replace("(LLM_BASE_URL or `base_url` in [routes.main])", "(…)")
        + "\n"
}

#[tokio::test]
async fn an_error_for_an_unconfigured_model_names_no_setting() {
    let server = ScriptedServer::start(Script::always(reply::status(404))).unwrap();
    let messages = [Message::user("Where is it?")];
    let asked = ModelRequest { model: "my-other", ..request(&[], &messages) };
    let model = open(route(WireKind::OpenAiChat, &server.base_url()), ONE_TRY);
    let error = call(model.as_ref(), asked).await.1.unwrap_err();
    let (_, next) = error.message.split_once("; ").unwrap();
    assert_eq!(
        next,
        "is `my-other` a model there (named by the call, the agent's file or an alias), and the address right \
         (LLM_BASE_URL or `base_url` in [routes.main])?"
    );
}

#[tokio::test]
async fn an_unknown_model_is_reported_with_the_providers_nearest_models() {
    let mut told = String::new();
    for (wire, model) in [
        (WireKind::Anthropic, "claude-haiku-4"),
        (WireKind::Anthropic, "claude-sonet-4-5"),
        (WireKind::Anthropic, "sonet"),
        (WireKind::OpenAiChat, "gpt-5-mni"),
        (WireKind::OpenAiResponses, "gtp-5-codex"),
        (WireKind::Gemini, "gemini-3.8-flsh"),
        // The nearest models are shut down.
        (WireKind::Gemini, "gemini-2.0-flsh"),
        (WireKind::OpenAiChat, "o1-pr"),
        (WireKind::Anthropic, "claude-opus-4-1-mini"),
        (WireKind::OpenAiChat, "claude-opus-4-5"),
        (WireKind::OpenAiChat, "my-own"),
    ] {
        told.push_str(&told_by_404(wire, model).await);
    }
    expect![[r#"
        is `claude-haiku-4` a model there (…), and the address right (…)? did you mean `claude-haiku-4-5` or `claude-haiku-5-5`?
        is `claude-sonet-4-5` a model there (…), and the address right (…)? did you mean `claude-sonnet-4-5`, `claude-sonnet-5-5` or `claude-sonnet-5`?
        is `sonet` a model there (…), and the address right (…)? did you mean `sonnet`?
        is `gpt-5-mni` a model there (…), and the address right (…)? did you mean `gpt-5-mini` or `gpt-5`?
        is `gtp-5-codex` a model there (…), and the address right (…)? did you mean `gpt-5-codex`, `gpt-5.3-codex` or `gpt-5.2-codex`?
        is `gemini-3.8-flsh` a model there (…), and the address right (…)? did you mean `gemini-3.8-flash` or `gemini-3.6-flash`?
        is `gemini-2.0-flsh` a model there (…), and the address right (…)? did you mean `gemini-3.8-flash` or `gemini-3.6-flash`?
        is `o1-pr` a model there (…), and the address right (…)?
        is `claude-opus-4-1-mini` a model there (…), and the address right (…)?
        is `claude-opus-4-5` a model there (…), and the address right (…)? `claude-opus-4-5` is known on the wire anthropic: give it a route of its own
        is `my-own` a model there (…), and the address right (…)?
    "#]].assert_eq(&told);
}
