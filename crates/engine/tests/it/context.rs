//! Requests to models, byte by byte over each wire: few words but the right ones, and requests that only grow.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use sortie_llm::{RateLimits, Route, RouteSetup, RouteTable, WireKind};
use sortie_protocol::Status;
use sortie_testkit::{RecordedRequest, Script, ScriptedServer, reply, when};

use crate::support::{Plan, ask};

const MAIN_BUDGET: usize = 2200;
const EXPLORE_BUDGET: usize = 800;
const QUESTION: &str = "Where are authentication errors handled?";
const BRIEF: &str = "Find where authentication errors are created and handled in this workspace. Report each place as \
                     path:line with a few words on what happens there, and name the types involved.";

/// A main agent that delegates to two explorers, each of which reads a file in each of two turns.
fn script() -> Script {
    let task = |description: &str| {
        reply::call("Task", json!({"description": description, "prompt": BRIEF, "subagent_type": "explore"}))
    };
    let read = |file: &str| reply::calls([reply::call("Read", json!({"file_path": file}))]);
    Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls([task("one"), task("two")]))
        .on(when::prompt_contains(QUESTION), reply::text("In a.txt."))
        .on(when::turn(0), read("a.txt"))
        .on(when::turn(1), read("missing.txt"))
        .otherwise(reply::text("In a.txt:1."))
}

/// A model that reads one line after the other, with many words.
fn many_words() -> Script {
    let read = |n: usize| {
        let call = reply::call("Read", json!({"file_path": "a.txt", "offset": n}));
        reply::reasoning(format!("thought {n}")).text(format!("Line {n}. {}", "It matters. ".repeat(100))).calls([call])
    };
    let script = Script::new().on(when::last_contains("Sum up this conversation"), reply::text("It is in a.txt."));
    (1..=25).fold(script, |script, n| script.times(1, when::any(), read(n))).otherwise(reply::text("Read."))
}

#[tokio::test]
async fn a_shortened_conversation_is_accepted_on_every_wire() {
    for wire in WireKind::ALL {
        let server = ScriptedServer::start(many_words()).expect("a free port");
        let route = Route { window: Some(12_000), max_output: Some(1000), ..route(&server, wire) };
        let table = RouteTable::new(RouteSetup { routes: vec![route], ..RouteSetup::default() }).expect("one route");
        let plan = Plan::script(Script::new()).files(&[("a.txt", "a line of the file\n".repeat(30).as_str())]);
        let outcome = plan.build_with(Arc::new(table)).run(ask(QUESTION)).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Read."), "{wire}: {outcome:?}");
        let all = server.requests();
        let last = all.last().expect("it was asked").body.to_string();
        assert!(last.contains("It is in a.txt.") && last.contains(QUESTION), "{wire}: {last}");
        assert!(!last.contains("thought 1\""), "{wire}: with its turn its reasoning goes");
        let n_tools = all[0].body["tools"].as_array().map_or(0, Vec::len);
        let prefixes: HashSet<Vec<String>> = all.iter().map(|one| elements(one)[..=n_tools].to_vec()).collect();
        assert_eq!(prefixes.len(), 1, "{wire}: tools and system prompt stay as they are");
    }
}

/// Runs it over one wire, and returns the requests of the main agent and of each explorer.
async fn requests(wire: WireKind) -> Vec<Vec<Arc<RecordedRequest>>> {
    let server = ScriptedServer::start(script()).expect("a free port");
    let route = route(&server, wire);
    let table = RouteTable::new(RouteSetup { routes: vec![route], ..RouteSetup::default() }).expect("one route");
    let plan = Plan::script(Script::new()).files(&[("a.txt", "fn handle(error: AuthError) {}\n")]);
    let outcome = plan.build_with(Arc::new(table)).run(ask(QUESTION)).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");

    let all = server.requests();
    let is_main = |request: &&Arc<RecordedRequest>| String::from_utf8_lossy(&request.raw).contains(QUESTION);
    // A request belongs to the task whose history it continues. The two explorers differ only in their connection's
    // timing, so the order of their first requests tells them apart.
    let main: Vec<_> = all.iter().filter(is_main).cloned().collect();
    let explorers: Vec<_> = all.iter().filter(|request| !is_main(request)).cloned().collect();
    assert_eq!((main.len(), explorers.len()), (2, 6));
    vec![main, explorers]
}

pub(crate) fn route(server: &ScriptedServer, wire: WireKind) -> Route {
    Route {
        name: "main".to_owned(),
        wire,
        base_url: server.base_url().parse().expect("a base URL"),
        api_key: None,
        model: "some-model".to_owned(),
        window: None,
        max_output: None,
        rate_limits: RateLimits::default(),
    }
}

fn tokens(request: &RecordedRequest) -> usize {
    bpe_openai::o200k_base().count(&String::from_utf8_lossy(&request.raw))
}

#[tokio::test]
async fn first_requests_are_small_on_every_wire() {
    for wire in WireKind::ALL {
        let tasks = requests(wire).await;
        let (main, explore) = (tokens(&tasks[0][0]), tokens(&tasks[1][0]));
        assert!(main <= MAIN_BUDGET, "{wire}: the main agent's first request has {main} tokens");
        assert!(explore <= EXPLORE_BUDGET, "{wire}: an explorer's first request has {explore} tokens");
    }
}

#[tokio::test]
async fn first_requests_with_all_tools_are_small_as_well() {
    let task = json!({"description": "All of it", "prompt": "Where are such errors made?"});
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls([reply::call("Task", task)]))
        .otherwise(reply::text("In a.txt:1."));
    for wire in WireKind::ALL {
        let server = ScriptedServer::start(script.clone()).expect("a free port");
        let routes = vec![route(&server, wire)];
        let table = RouteTable::new(RouteSetup { routes, ..RouteSetup::default() }).expect("one route");
        let plan = Plan { has_shell: true, ..Plan::script(Script::new()) };
        let outcome = plan.build_with(Arc::new(table)).run(ask(QUESTION)).await;
        assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
        let all = server.requests();
        assert!(all[0].body.to_string().contains("BashOutput"), "{wire}: {}", all[0].body);
        let (main, child) = (tokens(&all[0]), tokens(&all[1]));
        assert!(main <= MAIN_BUDGET, "{wire}: the main agent's first request has {main} tokens");
        assert!(child <= MAIN_BUDGET, "{wire}: a general-purpose agent's first request has {child} tokens");
    }
}

/// The elements whose bytes must never change: tools, system prompt and messages, without cache marks.
pub(crate) fn elements(request: &RecordedRequest) -> Vec<String> {
    let mut body = request.body.clone();
    remove_cache_marks(&mut body);
    // Each wire has its own names for them.
    let first = |names: &[&str]| names.iter().find_map(|name| body.get(*name).cloned()).unwrap_or_default();
    let list = |value: Value| value.as_array().cloned().unwrap_or_default();
    let system = first(&["system", "instructions", "systemInstruction"]);
    let messages = list(first(&["messages", "input", "contents"]));
    assert!(!messages.is_empty(), "{body}");
    list(first(&["tools"])).into_iter().chain([system]).chain(messages).map(|element| element.to_string()).collect()
}

fn remove_cache_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(remove_cache_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_cache_marks),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn every_request_repeats_the_one_before_it_and_adds_to_its_end() {
    for wire in WireKind::ALL {
        for task in requests(wire).await {
            let mut histories: Vec<Vec<String>> = task.iter().map(|request| elements(request)).collect();
            histories.sort_by_key(Vec::len);
            for pair in histories.windows(2) {
                assert_eq!(pair[0][..], pair[1][..pair[0].len()], "{wire}");
            }
        }
    }
}
