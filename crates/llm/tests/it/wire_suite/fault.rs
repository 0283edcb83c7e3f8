//! Streams that break, stall or lie.

use serde_json::json;
use sortie_llm::{ErrorKind, ModelEvent, WireKind};
use sortie_protocol::Message;
use sortie_testkit::{Fault, Script, ScriptedReply, reply};
use tokio::sync::Notify;

use crate::caller::{Caller, IMPATIENT, ONE_TRY, QUICK, caller};
use crate::fixture::{request, tools};

/// More bytes than any body in this file.
const LONGEST: usize = 10_000;

fn two_calls() -> ScriptedReply {
    let calls = [reply::call("Read", json!({ "path": "a.rs" })), reply::call("Grep", json!({ "pattern": "size" }))];
    reply::text("Two looks.").calls(calls)
}

/// Tries increasing lengths of the body until the reply is complete, and some beyond.
async fn never_half(wire: WireKind, lengths: impl Iterator<Item = usize> + Clone, broken: impl Fn(usize) -> Fault) {
    const BEYOND: usize = 50;
    let script = Script::in_order(lengths.clone().map(|bytes| two_calls().fault(broken(bytes))));
    let caller = caller(wire, script, ONE_TRY);
    let mut whole = 0;
    for bytes in lengths {
        match caller.ask().await.1 {
            Ok(reply) => {
                let calls: Vec<_> = reply.calls().map(|call| (call.tool.as_str(), call.arguments.as_str())).collect();
                assert_eq!(calls, [("Read", r#"{"path":"a.rs"}"#), ("Grep", r#"{"pattern":"size"}"#)], "{bytes} bytes");
                whole += 1;
            }
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Cut, "{bytes} bytes: {error}");
                assert!("Two looks.".starts_with(&error.partial), "{bytes} bytes: {}", error.partial);
                assert_eq!(whole, 0, "{bytes} bytes are less than before");
            }
        }
        if whole > BEYOND {
            return;
        }
    }
    panic!("the reply was never whole");
}

pub(super) async fn a_stream_cut_at_any_byte_is_never_half_a_reply(wire: WireKind) {
    never_half(wire, 0..LONGEST, Fault::CutAfter).await;
}

pub(super) async fn a_reply_that_ends_too_early_is_cut(wire: WireKind) {
    never_half(wire, (0..LONGEST).step_by(7), Fault::EndAfter).await;
}

pub(super) async fn a_cut_stream_is_retried(wire: WireKind) {
    let script = Script::in_order([two_calls().fault(Fault::CutAfter(700)), two_calls()]);
    let (observed, reply) = caller(wire, script, QUICK).ask().await;
    assert_eq!(reply.unwrap().calls().count(), 2);
    assert_eq!(observed.text, "Two looks.", "what the first try streamed is void");
    let kinds: Vec<_> = observed.retries.iter().map(|(attempt, _, error)| (*attempt, error.kind)).collect();
    assert_eq!(kinds, [(1, ErrorKind::Cut)]);
}

/// Asks once and expects the idle timeout to end it.
async fn stalls(caller: &Caller) -> sortie_llm::ModelError {
    let before = std::time::Instant::now();
    let error = caller.ask().await.1.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stalled);
    assert!(before.elapsed() >= IMPATIENT.idle_timeout);
    assert!(error.message.contains("raise the idle timeout"), "{error}");
    error
}

pub(super) async fn a_stalled_stream_fails_with_its_partial_text(wire: WireKind) {
    let long = "word ".repeat(400);
    let caller = caller(wire, Script::always(reply::text(&long).fault(Fault::StallAfter(3000))), IMPATIENT);
    let error = stalls(&caller).await;
    assert!(!error.partial.is_empty() && long.starts_with(&error.partial), "{:?}", error.partial);
}

pub(super) async fn keep_alives_do_not_keep_a_call_alive(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::fault(Fault::KeepAlivesOnly)), IMPATIENT);
    assert_eq!(stalls(&caller).await.partial, "");
}

pub(super) async fn a_silent_server_is_stalled(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::never()), IMPATIENT);
    stalls(&caller).await;
    caller.server.traffic_reaches(|traffic| traffic.open_connections == 0).await;
}

pub(super) async fn slow_content_is_not_a_stall(wire: WireKind) {
    let text = "A few words. ";
    let reply = (0..32).fold(ScriptedReply::default(), |reply, _| reply.text(text));
    let drip = reply.in_chunks_of(48).fault(Fault::SlowDrip { ms: 5 });
    let caller = caller(wire, Script::always(drip), IMPATIENT);
    let before = std::time::Instant::now();
    assert_eq!(caller.ask().await.1.unwrap().text(), text.repeat(32));
    assert!(before.elapsed() > IMPATIENT.idle_timeout, "only a reply that outlasts the timer proves anything");
}

pub(super) async fn an_overload_inside_a_stream_is_retried(wire: WireKind) {
    let script = Script::in_order([two_calls().fault(Fault::OverloadedMidStream), reply::text("Now.")]);
    let (observed, reply) = caller(wire, script, QUICK).ask().await;
    assert_eq!(reply.unwrap().text(), "Now.");
    let (_, _, error) = &observed.retries[0];
    assert_eq!(error.kind, ErrorKind::Overloaded);
    assert!(error.message.to_lowercase().contains("overloaded"), "{error}");

    let always = caller(wire, Script::always(two_calls().fault(Fault::OverloadedMidStream)), QUICK);
    let error = always.ask().await.1.unwrap_err();
    assert!(error.message.ends_with("(after 3 tries)"), "what was begun may have cost something: {error}");
}

pub(super) async fn garbage_is_retried_and_then_reported(wire: WireKind) {
    let script = Script::always(reply::text("Half of this. And the rest.").fault(Fault::Garbage));
    let (observed, reply) = caller(wire, script, QUICK).ask().await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, observed.retries.len()), (ErrorKind::Garbage, 2));
    assert!(error.message.contains(r#"{"oops": [}"#) && error.message.ends_with("(after 3 tries)"), "{error}");
}

pub(super) async fn dropping_a_call_closes_its_connection(wire: WireKind) {
    let long = "word ".repeat(400);
    let caller = caller(wire, Script::always(reply::text(long).fault(Fault::StallAfter(3000))), ONE_TRY);
    let (tools, messages) = (tools(), [Message::user("Where is it?")]);
    let streaming = Notify::new();
    let mut observe = |event: ModelEvent<'_>| {
        if matches!(event, ModelEvent::Text(_)) {
            streaming.notify_one();
        }
    };
    tokio::select! {
        _ = caller.model.call(request(&tools, &messages), &mut observe) => panic!("the stream never ends"),
        () = streaming.notified() => {}
    }
    caller.server.traffic_reaches(|traffic| traffic.open_connections == 0).await;
}
