//! Hostile input: every message gets a typed error, and the session continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::ErrorCode;
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use sortie_contract::{AgentLine, Answer, Call, Contract, Defaults, Sortie};
use sortie_mcp::stdio::MAX_LINE_BYTES;
use sortie_protocol::{Failure, TaskRequest};
use sortie_testkit::{Script, reply};
use tokio::io::AsyncWriteExt as _;

use super::rough::Rough;
use crate::office::{World, answer, brief};

#[tokio::test]
async fn every_invalid_line_gets_an_error() {
    let mut rough = Rough::new(&World::new(Script::new()));
    rough.initialize().await;
    let deep = "[".repeat(100_000);
    for (line, code) in [
        ("garbage", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", -32700),
        (&deep, -32700),
        ("\u{0}\u{1}", -32700),
        ("{}", -32600),
        ("[]", -32600),
    ] {
        rough.write(line.as_bytes()).await;
        let error = rough.read().await;
        assert_eq!(error["error"]["code"], code, "{} -> {error}", &line[..line.len().min(40)]);
    }
    rough.write(b"\xff\xfe\xfd").await;
    assert_eq!(rough.read().await["error"]["code"], -32700);
    rough.is_served().await;
}

#[tokio::test]
async fn a_batch_of_ten_thousand_is_one_error() {
    let mut rough = Rough::new(&World::new(Script::new()));
    rough.initialize().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let error = rough.ask(Value::Array(vec![ping; 10_000])).await;
    assert_eq!(error["error"]["code"], -32600, "{error}");
    rough.is_served().await;
}

#[tokio::test]
async fn a_line_of_64_mib_is_refused_and_the_next_one_is_served() {
    let mut rough = Rough::new(&World::new(Script::new()));
    rough.initialize().await;
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        rough.input.write_all(&piece).await.unwrap();
    }
    rough.input.write_all(b"\n").await.unwrap();
    let error = rough.read().await;
    assert_eq!(error["error"]["code"], -32600);
    assert!(error["error"]["message"].as_str().unwrap().contains(&MAX_LINE_BYTES.to_string()), "{error}");
    rough.is_served().await;
}

#[tokio::test]
async fn messages_before_the_session_opens_do_not_end_it() {
    let mut rough = Rough::new(&World::new(Script::new()));
    let early = rough.ask(json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "Task"}})).await;
    assert_eq!((&early["id"], &early["error"]["code"]), (&json!(7), &json!(-32602)), "{early}");
    rough.write(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).await;
    rough.write(br#"{"jsonrpc": "2.0", "id": 3, "result": {}}"#).await;
    rough.initialize().await;
    rough.is_served().await;
}

#[tokio::test]
async fn invalid_parameters_are_distinguished_from_unknown_methods() {
    let mut rough = Rough::new(&World::new(Script::new()));
    rough.initialize().await;
    let params = json!({"name": "Task", "arguments": "a text"});
    let misfit = rough.ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})).await;
    assert_eq!(misfit["error"]["code"], -32602, "{misfit}");
    let unknown = rough.ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/cal"})).await;
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    rough.is_served().await;
}

/// The clock advances only while everything waits, so a request not answered by then is held back for good.
#[tokio::test(start_paused = true)]
async fn ten_thousand_requests_are_held_back_until_read_and_then_all_answered() {
    const ALL: usize = 10_000;
    let mut rough = Rough::over(&World::new(Script::new()), 4 << 10);
    rough.initialize().await;
    let Rough { mut input, mut output, .. } = rough;
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let mut writing = tokio::spawn(async move {
        let client = "x".repeat(1000);
        for id in 0..ALL {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "client": client});
            input.write_all(format!("{request}\n").as_bytes()).await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
        input
    });
    // Not so long that it counts as gone.
    assert!(tokio::time::timeout(Duration::from_secs(50), &mut writing).await.is_err(), "it must be held back");
    let read = written.load(Ordering::Relaxed);
    assert!(read < ALL / 2, "{read} were read although nobody reads answers");
    let mut answered = vec![false; ALL];
    for _ in 0..ALL {
        let answer: Value = serde_json::from_str(&output.next_line().await.unwrap().unwrap()).unwrap();
        answered[usize::try_from(answer["id"].as_u64().unwrap()).unwrap()] = true;
    }
    assert!(answered.into_iter().all(|is_answered| is_answered));
    writing.await.unwrap();
}

#[tokio::test]
async fn a_second_request_with_a_used_id_is_refused_and_the_first_continues() {
    let world = World::new(Script::always(reply::text("found it").held_by("gate")));
    let mut rough = Rough::new(&world);
    rough.initialize().await;
    let call = json!({"jsonrpc": "2.0", "id": "Z", "method": "tools/call"});
    let call = |prompt| {
        let mut call = call.clone();
        call["params"] = json!({"name": "Task", "arguments": brief(prompt)});
        call
    };
    rough.write(call("the first").to_string().as_bytes()).await;
    let refused = rough.ask(call("the second")).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("Z"), &json!(-32600)), "{refused}");
    world.model.gate("gate").open();
    let answered = rough.read().await;
    assert_eq!(answered["result"]["structuredContent"]["text"], "found it", "{answered}");
    assert_eq!(world.all_ended(1).await.len(), 1, "the second one began nothing");
    let again = rough.ask(json!({"jsonrpc": "2.0", "id": "Z", "method": "ping"})).await;
    assert_eq!(again["result"], json!({}), "an id is free when its request is answered: {again}");
}

#[tokio::test]
async fn s68_the_id_of_a_cancelled_request_is_never_accepted_again() {
    let world = World::new(Script::always(reply::text("found it").held_by("gate")));
    let mut rough = Rough::new(&world);
    rough.initialize().await;
    let params = json!({"name": "Task", "arguments": brief("the first")});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    rough.write(call.to_string().as_bytes()).await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    rough.write(cancelled.to_string().as_bytes()).await;
    let refused = rough.ask(json!({"jsonrpc": "2.0", "id": 7, "method": "ping"})).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    world.model.gate("gate").open();
    let answered = rough.ask(json!({"jsonrpc": "2.0", "id": 8, "method": "ping"})).await;
    assert_eq!((&answered["id"], &answered["result"]), (&json!(8), &json!({})), "{answered}");
}

#[tokio::test]
async fn an_unknown_cursor_is_an_error_in_every_list() {
    let mut rough = Rough::new(&World::new(Script::new()));
    rough.initialize().await;
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let params = json!({"cursor": "zzz"});
        let refused = rough.ask(json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params})).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("`zzz` is not a cursor"), "{method}: {refused}");
    }
}

#[tokio::test]
async fn calls_beyond_the_bound_are_refused_and_the_others_continue() {
    let world = World::new(Script::always(reply::text("done").held_by("gate")));
    let host = world.connect().await;
    let mut calls = Vec::new();
    for _ in 0..256 {
        calls.push(host.begin("SubagentOutput", json!({"task_id": "agent-aaaaaaaaaaaa"})).await);
    }
    for call in calls {
        assert_eq!(answer(call).await.is_error, Some(true), "that many fit");
    }
    let mut held = Vec::new();
    for _ in 0..256 {
        held.push(host.begin("Task", brief("wait")).await);
    }
    // Requests are processed in order, so by the reply to this one all earlier ones are under way.
    let refused = host.call("Task", brief("one more")).await.unwrap_err();
    assert!(refused.to_string().contains("256 calls of this session are under way"), "{refused}");
    world.model.gate("gate").open();
    for call in held {
        assert_eq!(answer(call).await.is_error, Some(false));
    }
}

/// A contract in which every call panics.
struct Breaking;

impl Contract for Breaking {
    fn name(&self) -> &'static str {
        Sortie.name()
    }

    fn tool_name(&self) -> &'static str {
        Sortie.tool_name()
    }

    fn description(&self, agents: &[AgentLine]) -> String {
        Sortie.description(agents)
    }

    fn schema(&self, agents: &[AgentLine]) -> Value {
        Sortie.schema(agents)
    }

    fn output_schema(&self) -> Value {
        Sortie.output_schema()
    }

    fn defaults(&self) -> Defaults {
        Sortie.defaults()
    }

    fn decode(&self, _arguments: &str) -> Result<TaskRequest, Failure> {
        panic!("a broken contract")
    }

    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value {
        Sortie.encode(call, answer)
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        Sortie.is_error(answer)
    }
}

#[tokio::test]
async fn a_call_that_panics_is_answered_and_the_session_continues() {
    let host = World::speaking(Arc::new(Breaking), Script::new()).connect().await;
    let Err(ServiceError::McpError(error)) = host.call("Task", brief("x")).await else { panic!("an error") };
    assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    assert!(!error.message.contains("a broken contract"), "{error:?}");
    assert_eq!(host.client.list_all_tools().await.unwrap().len(), 5);
}
