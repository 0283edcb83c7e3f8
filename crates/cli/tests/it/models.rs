//! `sortie models`: the routes, the meaning of each name, and whether they answer.

use expect_test::expect;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::world::World;

const TWO_ROUTES: &str = r#"
[routes.main]
model = "claude-sonnet-4-5"
base_url = "https://gateway.example/v1"
api_key = "a-key"
wire = "anthropic"

[routes.small]
model = "tiny"
base_url = "http://127.0.0.1:9"
window = 8192

[aliases]
quick = "small"
"#;

#[test]
fn without_a_model_the_built_in_one_serves_and_what_to_set_is_named() {
    expect![[r#"
        exit 0
        --- stdout
        route    model          wire  address  window  output  $ per M in / out  key from
        offline  offline-rules  -     -        -       -       -                 -

        main, light, haiku, sonnet, opus  → offline: offline-rules (it stands in, and the outcome says so)

        no model is set: `offline`, the built-in rule-based model, serves; set ANTHROPIC_API_KEY, OPENAI_API_KEY or
        GEMINI_API_KEY, or for any compatible server LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY
    "#]]
    .assert_eq(&World::new().sortie(["models"]).run().transcript());
}

#[test]
fn a_light_route_alone_serves_without_a_hint_to_set_a_model() {
    let world = World::new();
    let light = [("LIGHT_LLM_MODEL_ID", "small"), ("LIGHT_LLM_BASE_URL", "http://127.0.0.1:9")];
    expect![[r#"
        exit 0
        --- stdout
        route    model          wire         address             window  output  $ per M in / out  key from
        light    small          openai-chat  http://127.0.0.1:<port>  -       -       -                 -
        offline  offline-rules  -            -                   -       -       -                 -

        main, haiku, sonnet, opus  → light: small (it stands in, and the outcome says so)
    "#]]
    .assert_eq(&world.sortie(["models"]).envs(light).run().transcript());
}

#[test]
fn routes_are_listed_with_all_that_is_known_and_names_with_their_meaning() {
    let world = World::new();
    world.config(TWO_ROUTES);
    let ended = world.sortie(["models"]).run();
    assert!(!ended.stdout.contains("a-key"), "no key is shown");
    expect![[r#"
        exit 0
        --- stdout
        route    model              wire         address                     window  output  $ per M in / out  key from
        main     claude-sonnet-4-5  anthropic    https://gateway.example/v1  200000  16000   3 / 15            <dir>/home/.config/sortie/config.toml:5
        small    tiny               openai-chat  http://127.0.0.1:<port>          8192    -       -                 -
        offline  offline-rules      -            -                           -       -       -                 -

        light   → main: claude-sonnet-4-5 (it stands in, and the outcome says so)
        haiku   → main: claude-haiku-4
        sonnet  → main: claude-sonnet-4
        opus    → main: claude-opus-4
        quick   → small: tiny
    "#]].assert_eq(&ended.transcript());
}

#[test]
fn models_as_json_are_one_object() {
    let world = World::new();
    world.config(TWO_ROUTES);
    let listing = world.sortie(["models", "--output-format", "json"]).run().stdout_json();
    let main = &listing["routes"][0];
    assert_eq!([&main["name"], &main["model"], &main["wire"]], ["main", "claude-sonnet-4-5", "anthropic"]);
    assert_eq!(main["base_url"], "https://gateway.example/v1");
    assert!(main["usd_per_million_tokens"]["input"].is_number(), "{main}");
    let small = &listing["routes"][1];
    assert_eq!((&small["name"], &small["window"]), (&"small".into(), &8192.into()));
    assert_eq!(small["serves"][0]["name"], "quick");
    assert!(small.get("key").is_none(), "what is not set is absent: {small}");
    assert_eq!(listing["routes"][2]["name"], "offline");
    assert!(listing.get("checks").is_none(), "nobody was called");
}

#[test]
fn a_check_calls_each_route_once_and_names_the_model_that_answered() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("OK"))).unwrap());
    let ended = world.sortie(["models", "--check"]).on(&server, "anthropic").run();
    expect![[r#"
        exit 0
        --- stdout
        ok  main  test-model answered in <t>s
    "#]]
    .assert_eq(&ended.transcript());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_check_of_a_broken_route_explains_the_error_and_ends_with_1() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::status(401))).unwrap();
    let ended = world.sortie(["models", "--check"]).on(&server, "openai-chat").run();
    expect![[r#"
        exit 1
        --- stdout
        failed  main  http://127.0.0.1:<port>/v1/chat/completions answered 401: Incorrect API key provided.; check LLM_API_KEY
    "#]].assert_eq(&ended.transcript());
    let ended = world.sortie(["models", "--check", "--output-format", "json"]).on(&server, "openai-chat").run();
    assert_eq!(ended.code, 1);
    assert_eq!(ended.stdout_json()["checks"][0]["ok"], false);
    assert_eq!(server.requests().len(), 2, "one call each, without retries");
}

#[test]
fn routes_to_check_can_be_named_and_an_unknown_one_fails() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("OK"))).unwrap();
    let ended = world.sortie(["models", "--check", "main", "offline", "main"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{ended:#?}");
    let ended = world.sortie(["models", "--check", "two words"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.starts_with("failed  two words  unknown model `two words`"), "{}", ended.stdout);
    let ended = world.sortie(["models", "--check"]).run();
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.starts_with("ok  offline  offline-rules answered in "), "{}", ended.stdout);
}

#[test]
fn an_unusable_route_is_named_and_stops_only_requests_for_it() {
    let world = World::new();
    world.config("[routes.long]\nmodel = \"far-away\"\nwire = \"gemini\"\napi_key_env = \"NOBODY_SET_THIS\"\n");
    let listed = world.sortie(["models"]).run();
    expect![[r#"
        exit 0
        --- stdout
        route    model          wire  address  window  output  $ per M in / out  key from
        long     far-away       -     -        -       -       -                 -
        offline  offline-rules  -     -        -       -       -                 -

        main, light, haiku, sonnet, opus  → offline: offline-rules (it stands in, and the outcome says so)

        long cannot be used: the variable NOBODY_SET_THIS is not set, but `routes.long.api_key_env` (<dir>/home/.config/sortie/config.toml:4) names it

        no model is set: `offline`, the built-in rule-based model, serves; set ANTHROPIC_API_KEY, OPENAI_API_KEY or
        GEMINI_API_KEY, or for any compatible server LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY
    "#]].assert_eq(&listed.transcript());
    assert_eq!(world.sortie(["run", "Where is it?"]).run().code, 0, "others continue");
    expect![[r#"
        exit 2
        --- stderr
        error: the model `long` cannot be used: the variable NOBODY_SET_THIS is not set, but `routes.long.api_key_env` (<dir>/home/.config/sortie/config.toml:4) names it
    "#]].assert_eq(&world.sortie(["run", "--model", "long", "Where is it?"]).run().transcript());
}

#[test]
fn an_unusable_main_route_stops_only_what_needs_it() {
    let server = ScriptedServer::start(Script::always(reply::text("OK"))).unwrap();
    let world = World::new();
    world.config(&format!(
        "[routes.main]\nmodel = \"claude-x\"\n[routes.light]\nmodel = \"m\"\nbase_url = \"{}\"\n",
        server.base_url()
    ));
    for args in [
        &["run", "Where is login?", "--model", "offline"][..],
        &["run", "Where is login?", "--model", "light"],
        &["models"],
        &["models", "--check", "light"],
        &["agents", "list"],
    ] {
        let ended = world.sortie(args).run();
        assert_eq!(ended.code, 0, "{args:?}: {ended:#?}");
    }
    let listing = world.sortie(["models", "--output-format", "json"]).run().stdout_json();
    let routes = listing["routes"].as_array().unwrap();
    let main = routes.iter().find(|route| route["name"] == "main").unwrap();
    assert!(main["problem"].as_str().unwrap().contains("ANTHROPIC_API_KEY is not set"), "{main}");
    assert!(main.get("model").is_none(), "nobody serves: {main}");
    let listed = world.sortie(["models"]).run().stdout;
    assert!(listed.lines().any(|line| line.starts_with("main ") && line.contains(" claude-x ")), "{listed}");
    for args in [
        &["run", "Where is login?"][..],
        &["run", "Where is login?", "--model", "main"],
        &["task", "--description", "d", "--prompt", "Where is login?"],
    ] {
        expect![[r#"
            exit 2
            --- stderr
            error: there is no key for https://api.anthropic.com: ANTHROPIC_API_KEY is not set
            hint: export ANTHROPIC_API_KEY=…, or name the variable that holds it in [routes.main] api_key_env
        "#]]
        .assert_eq(&world.sortie(args).run().transcript());
    }
    let doctor = world.sortie(["doctor", "--check"]).run();
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("m answered in"), "the others are asked: {}", doctor.stdout);
}
