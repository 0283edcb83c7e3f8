//! Gateways: variables that move a provider's API elsewhere, and which host gets which key.

use expect_test::expect;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::transcript::normalised;
use crate::world::{Ended, World};

fn server() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("done"))).unwrap()
}

/// Calls to the server, each with its path and every key that it brought.
fn calls(server: &ScriptedServer) -> Vec<String> {
    const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
    let call = |request: &sortie_testkit::RecordedRequest| {
        let keys = KEYS.iter().filter_map(|name| Some(format!(" {name}: {}", request.header(name)?)));
        let path = request.path().split('?').next().unwrap_or_default();
        format!("{path}{}", keys.collect::<String>())
    };
    server.requests().iter().map(|request| call(request)).collect()
}

/// Lines about routes in `config show`.
fn routes(ended: &Ended, world: &World) -> String {
    let head = ended.stdout.split("\n\n").next().unwrap();
    let lines = head.lines().skip_while(|line| !line.starts_with("model "));
    normalised(&lines.collect::<Vec<_>>().join("\n"), &world.path(""))
}

#[test]
fn each_provider_is_called_at_its_own_address_variable_with_its_own_key() {
    let rows = [
        (&["ANTHROPIC_AUTH_TOKEN"][..], "ANTHROPIC_BASE_URL", "", "/v1/messages authorization: Bearer k0"),
        (&["ANTHROPIC_API_KEY"], "ANTHROPIC_BASE_URL", "/", "/v1/messages x-api-key: k0"),
        (
            &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
            "ANTHROPIC_BASE_URL",
            "/v1",
            "/v1/messages authorization: Bearer k1",
        ),
        (&["OPENAI_API_KEY"], "OPENAI_BASE_URL", "/v1", "/v1/responses authorization: Bearer k0"),
        (
            &["GEMINI_API_KEY"],
            "GOOGLE_GEMINI_BASE_URL",
            "",
            "/v1beta/models/gemini-3.8-flash:streamGenerateContent x-goog-api-key: k0",
        ),
        (&[], "ANTHROPIC_BASE_URL", "", "/v1/messages"),
    ];
    for (keys, variable, path, expected) in rows {
        let (world, gateway) = (World::new(), server());
        let mut run = world.sortie(["run", "x"]).env(variable, format!("{}{path}", gateway.base_url()));
        for (number, key) in keys.iter().enumerate() {
            run = run.env(key, format!("k{number}"));
        }
        let ended = run.run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "done\n"), "{ended:#?}");
        assert_eq!(calls(&gateway), [expected]);
    }
}

#[test]
fn the_llm_variables_and_the_configuration_come_first() {
    let (world, gateway, own) = (World::new(), server(), server());
    let gateway_is_set = |args: &[&str]| {
        let run = world.sortie(args).env("ANTHROPIC_BASE_URL", gateway.base_url());
        run.env("ANTHROPIC_AUTH_TOKEN", "gateways").env("OPENAI_BASE_URL", gateway.base_url())
    };
    let llm = [("LLM_BASE_URL", &*own.base_url()), ("LLM_MODEL_ID", "claude-x"), ("LLM_API_KEY", "own")];
    assert_eq!(gateway_is_set(&["run", "x"]).envs(llm).run().code, 0);
    world.config(&format!(
        "[routes.main]\nmodel = \"claude-x\"\nbase_url = \"{}\"\napi_key = \"files\"\n[routes.light]\nmodel = \"claude-y\"\nbase_url = \"{}\"\n",
        own.base_url(), own.base_url(),
    ));
    assert_eq!(gateway_is_set(&["run", "x"]).run().code, 0);
    assert_eq!(gateway_is_set(&["run", "--model", "light", "x"]).run().code, 0);
    let key = |name: &str| format!("/v1/messages x-api-key: {name}");
    assert_eq!((calls(&own), calls(&gateway)), (vec![key("own"), key("files"), key("files")], vec![]));
}

#[test]
fn a_gateways_key_never_goes_to_the_providers_public_address() {
    let world = World::new();
    let shown = |config: &str, variables: &[(&str, &str)]| {
        world.config(config);
        let gateway = [("ANTHROPIC_BASE_URL", "https://gateway.example/a"), ("ANTHROPIC_AUTH_TOKEN", "token")];
        let ended = world.sortie(["config", "show"]).envs(gateway).envs(variables.iter().copied()).run();
        routes(&ended, &world) + "\n"
    };
    let public = "base_url = \"https://api.anthropic.com\"\n";
    let text = [
        shown("", &[]),
        shown("", &[("LLM_WIRE", "anthropic"), ("LLM_MODEL_ID", "claude-x")]),
        shown("", &[("LLM_BASE_URL", "https://api.anthropic.com"), ("LLM_MODEL_ID", "claude-x")]),
        shown(&format!("[routes.main]\nmodel = \"claude-x\"\n{public}"), &[]),
        shown(&format!("[routes.main]\n{public}api_key_env = \"OWN\"\n"), &[("OWN", "own")]),
        shown("", &[("LIGHT_LLM_MODEL_ID", "claude-haiku-4-5"), ("OPENAI_API_KEY", "o")]),
        shown("", &[("LIGHT_LLM_MODEL_ID", "gpt-5-mini"), ("OPENAI_API_KEY", "o")]),
        shown("[routes.light]\nmodel = \"claude-y\"\nbase_url = \"https://api.anthropic.com\"\n", &[]),
        // Same host, another API.
        shown("", &[("LLM_BASE_URL", "https://gateway.example/o"), ("LLM_MODEL_ID", "gpt-x")]),
        shown("", &[("ANTHROPIC_BASE_URL", "gateway")]),
        shown("", &[("ANTHROPIC_BASE_URL", "")]),
    ];
    expect![[r#"
        model      claude-sonnet-5-5 over anthropic at https://gateway.example/a (ANTHROPIC_BASE_URL), key from ANTHROPIC_AUTH_TOKEN
        model      claude-x over anthropic at https://gateway.example/a (ANTHROPIC_BASE_URL), key from ANTHROPIC_AUTH_TOKEN
        model      none: the key in ANTHROPIC_AUTH_TOKEN was not set for https://api.anthropic.com, so it is not sent there
        model      none: the key in ANTHROPIC_AUTH_TOKEN was not set for https://api.anthropic.com, so it is not sent there
        model      claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from OWN
        model      claude-sonnet-5-5 over anthropic at https://gateway.example/a (ANTHROPIC_BASE_URL), key from ANTHROPIC_AUTH_TOKEN
        light      claude-haiku-4-5 over anthropic at https://gateway.example/a (ANTHROPIC_BASE_URL), key from ANTHROPIC_AUTH_TOKEN
        model      claude-sonnet-5-5 over anthropic at https://gateway.example/a (ANTHROPIC_BASE_URL), key from ANTHROPIC_AUTH_TOKEN
        light      gpt-5-mini over openai-chat at https://api.openai.com, key from OPENAI_API_KEY
        model      claude-sonnet-5-5 over anthropic at https://gateway.example/a (ANTHROPIC_BASE_URL), key from ANTHROPIC_AUTH_TOKEN
        light      none: the key in ANTHROPIC_AUTH_TOKEN was not set for https://api.anthropic.com, so it is not sent there
        model      none: there is no key for https://gateway.example/o: LLM_API_KEY is not set
        model      none: ANTHROPIC_BASE_URL is not a usable URL
        model      claude-sonnet-5-5 over anthropic at https://api.anthropic.com, key from ANTHROPIC_AUTH_TOKEN
    "#]].assert_eq(&text.concat());
}

#[test]
fn lists_tell_where_the_address_comes_from() {
    let (world, gateway) = (World::new(), server());
    let url = gateway.base_url();
    let variables =
        [("ANTHROPIC_BASE_URL", &*url), ("ANTHROPIC_AUTH_TOKEN", "token"), ("LIGHT_LLM_MODEL_ID", "claude-haiku-4-5")];
    let ended = |args: &[&str]| world.sortie(args).envs(variables).run();
    let models = ended(&["models", "--output-format", "json"]).stdout_json();
    for route in &models["routes"].as_array().unwrap()[..2] {
        assert_eq!(
            (&route["base_url_from"], &route["key"]),
            (&"ANTHROPIC_BASE_URL".into(), &"ANTHROPIC_AUTH_TOKEN".into())
        );
    }
    for args in [&["models"][..], &["doctor"], &["config", "show"]] {
        let ended = ended(args);
        assert!(ended.stdout.contains(&format!("{url} (ANTHROPIC_BASE_URL)")), "{ended:#?}");
    }
    let ended = ended(&["models", "--check"]);
    assert_eq!((ended.code, calls(&gateway).len()), (0, 2), "{ended:#?}");
    let bearer = "/v1/messages authorization: Bearer token";
    assert_eq!(calls(&gateway), [bearer, bearer]);
    // A tier's name is asked for where main is.
    assert_eq!(world.sortie(["run", "--model", "haiku", "x"]).envs(variables[..2].iter().copied()).run().code, 0);
    let body = &gateway.requests()[2].body;
    assert!(body["model"].as_str().unwrap().contains("haiku"), "{}", body["model"]);
}

#[test]
fn files_with_variables_follow_the_rules_of_keys() {
    let (world, gateway) = (World::new(), server());
    let text = format!("ANTHROPIC_BASE_URL={}\nANTHROPIC_AUTH_TOKEN=token\n", gateway.base_url());
    let file = world.write("gateway.env", &text);
    assert_eq!(world.sortie(["run", "x", "--env-file"]).arg(&file).run().code, 0);
    assert_eq!(calls(&gateway), ["/v1/messages authorization: Bearer token"]);
    world.write("workspace/.env", &text);
    let ended = world.sortie(["run", "x"]).run();
    let warning = "warning: .env, which sets ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN, is ignored: ";
    assert!(ended.stderr.starts_with(warning), "{}", ended.stderr);
    assert_eq!(calls(&gateway).len(), 1, "an untrusted project moves nothing");
    let effects = world.sortie(["trust", "--dry-run"]).run().stdout;
    assert!(effects.contains("line 1: sets ANTHROPIC_BASE_URL = http://127.0.0.1"), "{effects}");
    assert!(effects.contains(": your requests, and the key of this route, go there"), "{effects}");
    assert!(effects.contains("line 2: sets ANTHROPIC_AUTH_TOKEN = ********"), "{effects}");
    assert_eq!(world.sortie(["run", "x", "--trust"]).run().code, 0);
    assert_eq!(calls(&gateway).len(), 2);
}

#[test]
fn an_address_that_ends_in_anthropic_says_which_wire_it_assumes() {
    let world = World::new();
    let llm = [("LLM_BASE_URL", "http://127.0.0.1:1/api/anthropic"), ("LLM_MODEL_ID", "glm-x")];
    let ended = world.sortie(["config", "show"]).envs(llm).run();
    let at = "at http://127.0.0.1:1/api/anthropic, no key";
    assert!(ended.stdout.contains(&format!("glm-x over anthropic {at}")), "{ended:#?}");
    let notice = "warning: the route `main` is assumed to speak `anthropic`, because its address (LLM_BASE_URL) ends in \
        /anthropic; set LLM_WIRE to confirm it, or to another wire\n";
    assert_eq!(ended.stderr, notice);
    for wire in ["anthropic", "openai-chat"] {
        let ended = world.sortie(["config", "show"]).envs(llm).env("LLM_WIRE", wire).run();
        assert!(ended.stdout.contains(&format!("glm-x over {wire} {at}")), "{ended:#?}");
        assert_eq!(ended.stderr, "");
    }
    // The request goes to the path of the wire below it.
    let ended = world.sortie(["run", "x"]).envs(llm).env("SORTIE_LLM__MAX_RETRIES", "0").run();
    assert!(ended.stderr.contains("http://127.0.0.1:1/api/anthropic/v1/messages"), "{}", ended.stderr);
}
