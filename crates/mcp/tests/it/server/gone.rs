//! A host that is gone, or as good as gone: it has ended its input, does not read, or has closed its output.
//!
//! The clock advances only while everything waits, so any time that passes here is waited for on purpose.

use std::time::Duration;

use serde_json::{Value, json};
use sortie_journal::TaskState;
use sortie_protocol::Status;
use sortie_testkit::{Script, reply};
use tokio::time::Instant;

use super::rough::{Rough, initialize};
use crate::office::{World, brief};

fn call(more: &Value) -> Value {
    let mut arguments = brief("look");
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "id": "a call", "method": "tools/call", "params": {"name": "Task", "arguments": arguments}})
}

/// A session with a call under way, and with more replies than the stream holds and than may wait to be written.
async fn unread(world: &World) -> Rough {
    let mut rough = Rough::over(world, 4 << 10);
    rough.initialize().await;
    rough.write(call(&json!({})).to_string().as_bytes()).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    for id in 0..600 {
        rough.write(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string().as_bytes()).await;
    }
    rough
}

/// Nothing of the task has ended, and it can be resumed.
async fn assert_interrupted(world: &World) {
    world.model.traffic_reaches(|traffic| traffic.in_flight == 0).await;
    world.office.interrupt().await;
    let tasks = world.journal.tasks(2).unwrap();
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    assert_eq!(tasks[0].state, TaskState::Interrupted, "{tasks:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_host_that_ended_its_input_and_does_not_read() {
    let world = World::new(Script::always(reply::never()));
    let Rough { input, output: _output, session } = unread(&world).await;
    let since = Instant::now();
    drop(input);
    session.await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
    assert_interrupted(&world).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_client_that_has_no_session_and_does_not_read() {
    let mut rough = Rough::over(&World::new(Script::new()), 1 << 10);
    for id in 0..1000 {
        rough.write(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string().as_bytes()).await;
    }
    let since = Instant::now();
    drop(rough.input);
    rough.session.await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_for_a_minute_is_gone() {
    let world = World::new(Script::always(reply::never()));
    let since = Instant::now();
    let rough = unread(&world).await;
    rough.session.await.unwrap();
    let waited = since.elapsed();
    assert!(waited >= Duration::from_mins(1) && waited < Duration::from_secs(70), "{waited:?}");
    assert_interrupted(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_closed_its_reading_end_is_gone() {
    let world = World::new(Script::always(reply::never()));
    let Rough { input, output, session } = {
        let mut rough = Rough::new(&world);
        rough.initialize().await;
        let mut call = call(&json!({}));
        call["params"]["_meta"] = json!({"progressToken": 1});
        rough.write(call.to_string().as_bytes()).await;
        rough
    };
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    drop(output);
    // Progress of the call is sent, and does not arrive.
    session.await.unwrap();
    assert_interrupted(&world).await;
    drop(input);
}

#[tokio::test]
async fn background_work_starts_even_if_the_host_leaves_at_once() {
    let world = World::new(Script::always(reply::text("done")));
    let mut rough = Rough::new(&world);
    rough.write(initialize().to_string().as_bytes()).await;
    rough.write(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).await;
    rough.write(call(&json!({"run_in_background": true})).to_string().as_bytes()).await;
    // All of it is there before anything is read.
    drop(rough.input);
    rough.session.await.unwrap();
    world.office.idle().await;
    let tasks = world.all_ended(1).await;
    assert_eq!(tasks[0].state, TaskState::Ended(Status::Completed), "{tasks:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_host_that_only_listens() {
    let mut rough = Rough::new(&World::new(Script::new()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let listening = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let accepted = rough.ask(listening).await;
    assert!(accepted.get("error").is_none(), "{accepted}");
    let since = Instant::now();
    drop(rough.input);
    rough.session.await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_repeats_that_it_is_ready_is_notified_once() {
    let world = World::new(Script::new());
    let mut rough = Rough::new(&world);
    rough.initialize().await;
    for _ in 0..3 {
        rough.write(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).await;
    }
    // The current state is recorded before anything changes.
    assert!(tokio::time::timeout(Duration::from_secs(5), rough.read()).await.is_err(), "there are no news yet");
    world.write(".sortie/agents/new.md", "---\nname: new\ndescription: A new one\n---\nWork.\n");
    let mut told = 0;
    while let Ok(message) = tokio::time::timeout(Duration::from_secs(5), rough.read()).await {
        told += usize::from(message["method"] == "notifications/tools/list_changed");
    }
    assert_eq!(told, 1);
}
