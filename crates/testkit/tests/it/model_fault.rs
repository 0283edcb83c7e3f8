//! Faults of the model in memory: the typed errors that a wire would make of them.

use std::time::Duration;

use serde_json::json;
use sortie_llm::ErrorKind;
use sortie_protocol::{Message, StopReason};
use sortie_testkit::{Fault, Script, ScriptedModel, ScriptedReply, StatusFault, reply};
use tokio::time::Instant;

use crate::model::call;

fn prompt() -> [Message; 1] {
    [Message::user("Go.")]
}

fn always(reply: ScriptedReply) -> ScriptedModel {
    ScriptedModel::new(Script::always(reply))
}

#[tokio::test]
async fn a_broken_stream_is_an_error_with_the_text_so_far() {
    let text = "naïve text";
    for (fault, kind, partial) in [
        (Fault::CutAfter(0), ErrorKind::Cut, ""),
        (Fault::CutAfter(3), ErrorKind::Cut, "na"),
        (Fault::CutAfter(4), ErrorKind::Cut, "naï"),
        (Fault::CutAfter(999), ErrorKind::Cut, text),
        (Fault::EndAfter(6), ErrorKind::Cut, "naïve"),
        (Fault::StallAfter(2), ErrorKind::Stalled, "na"),
        (Fault::KeepAlivesOnly, ErrorKind::Stalled, ""),
        (Fault::Garbage, ErrorKind::Garbage, "naïv"),
        (Fault::OverloadedMidStream, ErrorKind::Overloaded, "naïv"),
    ] {
        let (result, events) = call(&always(reply::text(text).fault(fault.clone())), &prompt()).await;
        let error = result.unwrap_err();
        assert_eq!((error.kind, error.partial.as_str()), (kind, partial), "{fault:?}");
        let streamed = if partial.is_empty() { vec![] } else { vec![format!("text {partial:?}")] };
        assert_eq!(events, streamed, "{fault:?}");
    }
}

#[tokio::test]
async fn a_status_becomes_the_kind_that_callers_decide_on() {
    let too_long =
        |message: &str| Fault::Status(StatusFault { code: 400, retry_after: None, message: Some(message.to_owned()) });
    for (fault, kind) in [
        (Fault::status(400), ErrorKind::BadRequest),
        (Fault::status(401), ErrorKind::Auth),
        (Fault::status(403), ErrorKind::Auth),
        (Fault::status(404), ErrorKind::NotFound),
        (Fault::status(413), ErrorKind::BadRequest),
        (Fault::status(429), ErrorKind::RateLimited),
        (Fault::status(500), ErrorKind::Server),
        (Fault::status(503), ErrorKind::Overloaded),
        (Fault::status(529), ErrorKind::Overloaded),
        (too_long("prompt is too long: 300000 tokens > 200000 maximum"), ErrorKind::ContextLength),
        (too_long("This model's maximum context length is 128000 tokens."), ErrorKind::ContextLength),
    ] {
        let error = call(&always(reply::fault(fault.clone())), &prompt()).await.0.unwrap_err();
        assert_eq!(error.kind, kind, "{fault:?}");
    }
}

#[tokio::test]
async fn an_empty_answer_and_truncated_arguments_are_answers() {
    let reading = || reply::calls([reply::call("Read", json!({ "path": "abc" }))]);
    let empty = call(&always(reading().fault(Fault::Empty)), &prompt()).await.0.unwrap();
    assert_eq!((empty.parts.len(), empty.stop), (0, StopReason::End));
    let cut = call(&always(reading().fault(Fault::TruncatedArguments)), &prompt()).await.0.unwrap();
    let arguments: Vec<&str> = cut.calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!((arguments, cut.stop), (vec![r#"{"path""#], StopReason::Length));
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_comes_piece_by_piece_and_whole() {
    let model = always(reply::text("abcdefg").in_chunks_of(3).fault(Fault::SlowDrip { ms: 100 }));
    let start = Instant::now();
    let (result, events) = call(&model, &prompt()).await;
    assert_eq!(result.unwrap().text(), "abcdefg");
    assert_eq!(events, [r#"text "abc""#, r#"text "def""#, r#"text "g""#]);
    assert_eq!(start.elapsed(), Duration::from_millis(300));
}

#[tokio::test(start_paused = true)]
async fn a_retrying_model_announces_each_retry_and_waits_as_asked() {
    let script = Script::in_order([
        reply::fault(Fault::rate_limited("7")),
        reply::text("half a").fault(Fault::CutAfter(4)),
        reply::text("whole"),
    ]);
    let start = Instant::now();
    let (result, events) = call(&ScriptedModel::new(script).retrying(2), &prompt()).await;
    assert_eq!(result.unwrap().text(), "whole");
    let expected =
        ["retry 1 after 7s: rate_limited", r#"text "half""#, "retry 2 after 10ms: model_stream_cut", r#"text "whole""#];
    assert_eq!(events, expected);
    assert_eq!(start.elapsed(), Duration::from_millis(7010));
}

#[tokio::test(start_paused = true)]
async fn a_retrying_model_gives_up_at_its_bound_and_on_permanent_errors() {
    let (result, events) = call(&always(reply::status(500)).retrying(2), &prompt()).await;
    assert_eq!((result.unwrap_err().kind, events.len()), (ErrorKind::Server, 2));
    let (result, events) = call(&always(reply::status(401)).retrying(2), &prompt()).await;
    assert_eq!((result.unwrap_err().kind, events.len()), (ErrorKind::Auth, 0));
}
