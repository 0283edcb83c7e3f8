//! Sessions with servers at addresses: their ends, the effect of an end on the server, and events that are not an end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::Message;
use sortie_testkit::{Script, ScriptedPart, reply, when};
use tokio_util::sync::CancellationToken;

use super::restarts::pass;
use super::web::{Asked, Web};
use super::world::{World, one_after_the_other};

fn talk(arguments: Value) -> ScriptedPart {
    reply::call("mcp__web__talk", arguments)
}

fn done() -> Script {
    Script::always(reply::text("Done."))
}

#[tokio::test]
async fn sessions_that_end_after_each_call_block_nobody() {
    let used = Arc::new(Mutex::new(HashSet::new()));
    let web = Web::start(move |mut asked| {
        let is_new = used.lock().unwrap().insert(asked.session());
        async move { if is_new { asked.said("served").await } else { asked.answer("404 Not Found", &Value::Null).await } }
    });
    let web = web.await;
    let told = web.told(one_after_the_other((0..6).map(|call| talk(json!({ "call": call }))))).await;
    assert_eq!((told, web.sessions()), (vec!["served".to_owned(); 6], 6));
}

#[tokio::test]
async fn a_server_whose_sessions_end_before_any_answer_is_paused() {
    let web = Web::answering(|mut asked| async move { asked.answer("404 Not Found", &Value::Null).await }).await;
    let world = World::new(vec![web.server()], done());
    let first = world.run().await.notices.remove(0);
    assert!(first.ends_with("has ended the session, and the next one as well"), "{first}");
    let second = world.run().await.notices.remove(0);
    assert!(second.contains("has ended the session; it is tried again in "), "{second}");
    assert_eq!(web.sessions(), 2);
    world.close().await;
}

#[tokio::test]
async fn a_bad_request_outside_the_protocol_is_reported_and_not_retried() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let web = Web::start(move |mut asked| {
        counted.fetch_add(usize::from(asked.has("date")), Ordering::Relaxed);
        async move {
            if asked.has("date") {
                let head = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n";
                asked.write(&format!("{head}\r\nthe date is not valid")).await;
            } else {
                asked.said("served").await;
            }
        }
    });
    let web = web.await;
    let told = web.told(one_after_the_other([talk(json!({ "date": 1 })), talk(json!({}))])).await;
    assert!(
        told[0].contains("HTTP 400 Bad Request: the date is not valid; whether the call had its effect"),
        "{told:?}"
    );
    assert_eq!(told[1], "served");
    assert_eq!((calls.load(Ordering::Relaxed), web.sessions()), (1, 1));
}

/// A bad request without a code.
async fn refuse(asked: &mut Asked, why: &str) {
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32602, "message": why } });
    asked.answer("400 Bad Request", &error).await;
}

#[tokio::test]
async fn a_request_that_is_bad_in_a_new_session_too_leaves_that_session_open() {
    let web = Web::start(|mut asked| async move {
        if asked.has("date") { refuse(&mut asked, "the date is not valid").await } else { asked.said("served").await }
    });
    let web = web.await;
    let told = web.told(one_after_the_other([talk(json!({ "date": 1 })), talk(json!({}))])).await;
    let refused = "mcp_error: the MCP server `web` refused the call: the date is not valid (code -32602)";
    assert_eq!((told, web.sessions()), (vec![refused.to_owned(), "served".to_owned()], 2));
}

#[tokio::test]
async fn a_list_that_fails_in_a_new_session_too_is_reported_with_the_reason() {
    let web = Web::answering(|mut asked| async move { refuse(&mut asked, "no tenant").await }).await;
    let world = World::new(vec![web.server()], done());
    let notice = world.run().await.notices.remove(0);
    assert!(notice.ends_with("the MCP server `web` did not list its tools: no tenant (code -32602)"), "{notice}");
    world.close().await;
}

#[tokio::test]
async fn a_call_waits_for_a_busy_servers_list_as_long_as_for_its_answer() {
    let [is_busy, is_asked, is_free] = [(); 3].map(|()| CancellationToken::new());
    let (busy, asked_for, free) = (is_busy.clone(), is_asked.clone(), is_free.clone());
    // It does one thing at a time.
    let web = Web::answering(move |mut asked| {
        let (busy, asked_for, free) = (busy.clone(), asked_for.clone(), free.clone());
        async move {
            let is_long = asked.has("long");
            if is_long {
                busy.cancel();
            } else if busy.is_cancelled() {
                asked_for.cancel();
            }
            if busy.is_cancelled() {
                free.cancelled().await;
            }
            match (asked.is_list(), is_long) {
                (true, _) => asked.list().await,
                (false, true) => asked.said("after long").await,
                (false, false) => asked.said("at last").await,
            }
        }
    });
    let web = web.await;
    let mut server = web.server();
    server.call_within = Duration::from_mins(10);
    let script = Script::new()
        .on(when::turn(0).prompt_contains("long"), reply::calls([talk(json!({ "long": true }))]))
        .on(when::turn(0), reply::calls([talk(json!({}))]).held_by("later"))
        .on(when::turn(1), reply::text("Done."));
    let world = World::new(vec![server], script);
    let short = world.start().await;
    while world.model.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    let long = world.start_with("long").await;
    is_busy.cancelled().await;
    // The cached list of its tools has expired.
    pass(Duration::from_secs(6)).await;
    world.model.gate("later").open();
    is_asked.cancelled().await;
    // Longer than a start may take.
    pass(Duration::from_secs(90)).await;
    is_free.cancel();
    long.outcome().await.unwrap();
    short.outcome().await.unwrap();
    let messages = world.model.seen().into_iter().flat_map(|request| request.messages);
    let outputs = messages.filter_map(|message| match message {
        Message::Outputs { outputs } => Some(outputs),
        _ => None,
    });
    let told: HashSet<String> = outputs.flatten().map(|output| output.output.for_model).collect();
    assert_eq!(told, HashSet::from(["after long", "at last"].map(str::to_owned)));
    world.close().await;
}
