//! Who is meant by a model's name, and what is said when nobody is.

use expect_test::expect;
use sortie_llm::route::RouteError;
use sortie_llm::{CallSettings, ErrorKind, Models, Route, RouteTable, WireKind};
use sortie_protocol::ModelChoice;

use crate::fixture::route;

fn table(names: &[&str]) -> RouteTable {
    let named = |name: &&str| Route {
        name: (*name).to_owned(),
        model: format!("{name}-model"),
        ..route(WireKind::Anthropic, "http://127.0.0.1:9")
    };
    RouteTable::new(names.iter().map(named), CallSettings::default()).unwrap()
}

fn chosen(table: &RouteTable, asked: Option<&str>, inherited: Option<&str>) -> String {
    let inherited = inherited.map(|route| ModelChoice { route: route.to_owned(), id: "inherited-model".to_owned() });
    match table.choose(asked, inherited.as_ref()) {
        Ok(choice) => format!("{} {}", choice.route, choice.id),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_call_comes_before_the_parent_and_the_parent_before_the_main_route() {
    let table = table(&["main", "light"]);
    assert_eq!(chosen(&table, None, None), "main main-model");
    assert_eq!(chosen(&table, None, Some("light")), "light inherited-model");
    assert_eq!(chosen(&table, Some("light"), Some("main")), "light light-model");
    assert_eq!(chosen(&table, Some("offline"), Some("main")), "offline offline-rules");
    assert_eq!(chosen(&table, Some("offline-rules"), Some("main")), "offline offline-rules");
    assert_eq!(chosen(&table, Some("light-model"), None), "light light-model");
    assert_eq!(chosen(&table, Some("other-model"), Some("light")), "main other-model");
}

#[test]
fn without_a_route_there_is_offline() {
    assert_eq!(chosen(&table(&[]), None, None), "offline offline-rules");
    assert_eq!(chosen(&table(&["light"]), None, None), "offline offline-rules");
}

#[test]
fn a_model_that_nobody_knows_is_refused_with_what_to_set() {
    expect!["unknown model `gpt-5`; known routes: offline; to use a model by its id set ANTHROPIC_API_KEY or OPENAI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL"].assert_eq(&chosen(&table(&[]), Some("gpt-5"), None));
    expect!["unknown model `no such model`; known routes: main, offline; anything else must be a model id of the main route's provider"].assert_eq(&chosen(&table(&["main"]), Some("no such model"), None));
}

#[test]
fn every_chosen_model_can_be_opened() {
    let table = table(&["main"]);
    for asked in [None, Some("main"), Some("offline"), Some("other-model")] {
        assert!(table.open(&table.choose(asked, None).unwrap()).is_ok(), "{asked:?}");
    }
    let gone = ModelChoice { route: "gone".to_owned(), id: "some-model".to_owned() };
    let error = table.open(&gone).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Setup);
    assert!(error.message.starts_with("route `gone` is not set here; known routes: main, offline"), "{error}");
}

#[test]
fn a_provider_that_wants_a_key_is_not_asked_without_one() {
    for (wire, base_url, opens) in [
        (WireKind::Anthropic, "https://api.anthropic.com", false),
        (WireKind::OpenAiChat, "https://api.openai.com/v1", false),
        (WireKind::OpenAiChat, "http://10.0.0.7:11434", true),
    ] {
        let keyless = Route { api_key: None, ..route(wire, base_url) };
        let table = RouteTable::new([keyless], CallSettings::default()).unwrap();
        match table.open(&table.choose(None, None).unwrap()) {
            Ok(_) => assert!(opens, "{base_url}"),
            Err(error) => {
                assert!(!opens && error.kind == ErrorKind::Setup, "{base_url}: {error}");
                let expected =
                    format!("route `main` has no key for {base_url}; set LLM_API_KEY or `api_key` in [routes.main]");
                assert_eq!(error.message, expected);
            }
        }
    }
}

#[test]
fn a_table_refuses_routes_that_it_could_not_serve() {
    let make = |name: &str, model: &str| Route {
        name: name.to_owned(),
        model: model.to_owned(),
        ..route(WireKind::OpenAiChat, "http://127.0.0.1:9")
    };
    let error =
        |routes: Vec<Route>| RouteTable::new(routes, CallSettings::default()).err().map(|error| error.to_string());
    expect!["route `main` names no model; set LLM_MODEL_ID or `model` in [routes.main]"]
        .assert_eq(&error(vec![make("main", " ")]).unwrap());
    assert_eq!(
        RouteTable::new([make("offline", "m")], CallSettings::default()).err(),
        Some(RouteError::Reserved { name: "offline".to_owned() })
    );
    assert_eq!(
        RouteTable::new([make("x", "m"), make("x", "m")], CallSettings::default()).err(),
        Some(RouteError::Duplicate { name: "x".to_owned() })
    );
}

#[test]
fn wires_are_read_by_name() {
    for wire in WireKind::ALL {
        assert_eq!(wire.to_string().parse(), Ok(wire));
    }
    expect!["unknown wire `grpc`; known wires: anthropic, openai-chat"]
        .assert_eq(&"grpc".parse::<WireKind>().unwrap_err().to_string());
}
