//! What models are sent, byte by byte over each wire: few words but the right ones, and requests that only grow.

use std::sync::Arc;

use serde_json::{Value, json};
use sortie_llm::{Route, RouteSetup, RouteTable, WireKind};
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

/// Runs it over one wire, and returns the requests of the main agent and of each explorer.
async fn requests(wire: WireKind) -> Vec<Vec<Arc<RecordedRequest>>> {
    let server = ScriptedServer::start(script()).expect("a free port");
    let route = Route {
        name: "main".to_owned(),
        wire,
        base_url: server.base_url().parse().expect("a base URL"),
        api_key: None,
        model: "some-model".to_owned(),
        window: None,
        max_output: None,
    };
    let table = RouteTable::new(RouteSetup { routes: vec![route], ..RouteSetup::default() }).expect("one route");
    let plan = Plan::script(Script::new()).files(&[("a.txt", "fn handle(error: AuthError) {}\n")]);
    let outcome = plan.build_with(Arc::new(table)).run(ask(QUESTION)).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");

    let all = server.requests();
    let is_main = |request: &&Arc<RecordedRequest>| String::from_utf8_lossy(&request.raw).contains(QUESTION);
    // A request belongs to the task whose history it continues; the two explorers differ only in their connection's
    // timing, so both are told apart by which of their requests came first.
    let main: Vec<_> = all.iter().filter(is_main).cloned().collect();
    let explorers: Vec<_> = all.iter().filter(|request| !is_main(request)).cloned().collect();
    assert_eq!((main.len(), explorers.len()), (2, 6));
    vec![main, explorers]
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

/// The elements whose bytes must never change: tools, system prompt and messages, without cache marks.
fn elements(request: &RecordedRequest) -> Vec<String> {
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
