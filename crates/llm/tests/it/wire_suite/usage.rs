//! Usage of tries without a reply.

use sortie_llm::{ErrorKind, WireKind};
use sortie_protocol::Usage;
use sortie_testkit::{Fault, Script, reply};

use crate::caller::{ONE_TRY, QUICK, caller};
use crate::odd_servers::OddServer;

/// The usage that the provider reports in [`said`].
const USED: Usage = Usage { input_tokens: 70, output_tokens: 3, cache_read_tokens: 30, ..NOTHING };
const NOTHING: Usage = Usage {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cost: sortie_protocol::Money::ZERO,
    priced_tokens: 0,
    turns: 0,
    tool_calls: 0,
    failed_calls: 0,
    duration_ms: 0,
};

/// The usage in the format of each wire.
fn said(wire: WireKind) -> &'static str {
    match wire {
        WireKind::Anthropic => r#"{"input_tokens":70,"output_tokens":3,"cache_read_input_tokens":30}"#,
        WireKind::Gemini => r#"{"promptTokenCount":100,"cachedContentTokenCount":30,"candidatesTokenCount":3}"#,
        WireKind::OpenAiChat => {
            r#"{"prompt_tokens":100,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":30}}"#
        }
        WireKind::OpenAiResponses => {
            r#"{"input_tokens":100,"output_tokens":3,"input_tokens_details":{"cached_tokens":30}}"#
        }
    }
}

/// An event with usage before the reply is complete, on wires that have one.
fn early(wire: WireKind) -> Option<String> {
    let usage = said(wire);
    match wire {
        WireKind::Anthropic => Some(format!(r#"{{"type":"message_start","message":{{"model":"m","usage":{usage}}}}}"#)),
        WireKind::Gemini => {
            Some(format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"Half"}}]}}}}],"usageMetadata":{usage}}}"#))
        }
        // OpenAI itself does not do this, but servers that count as they go do.
        WireKind::OpenAiChat => {
            Some(format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"Half"}}}}],"usage":{usage}}}"#))
        }
        WireKind::OpenAiResponses => None,
    }
}

/// An event by which the provider breaks off, with the usage if the wire has a place for it there.
fn broken_off(wire: WireKind) -> String {
    let usage = said(wire);
    match wire {
        WireKind::Anthropic => r#"{"type":"error","error":{"type":"api_error","message":"broken"}}"#.to_owned(),
        WireKind::Gemini => format!(r#"{{"error":{{"code":500,"message":"broken"}},"usageMetadata":{usage}}}"#),
        WireKind::OpenAiChat => format!(r#"{{"error":{{"type":"server_error","message":"broken"}},"usage":{usage}}}"#),
        WireKind::OpenAiResponses => format!(
            r#"{{"type":"response.failed","response":{{"error":{{"code":"server_error","message":"broken"}},"usage":{usage}}}}}"#
        ),
    }
}

/// A server that answers each connection once, with these events and then a proper end of the stream.
fn streaming(events: impl IntoIterator<Item = String>) -> OddServer {
    let body: Vec<String> = events.into_iter().map(|event| format!("data: {event}\n\n")).collect();
    OddServer::document("200 OK", "content-type: text/event-stream\r\nconnection: close\r\n", &body.concat())
}

pub(super) async fn a_failed_try_reports_its_usage_and_the_reply_counts_only_its_own(wire: WireKind) {
    let first = Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 30, ..NOTHING };
    let second = Usage { input_tokens: 7, output_tokens: 5, ..NOTHING };
    let script = Script::in_order([
        reply::text("Half of this. And the rest.").usage(first).fault(Fault::OverloadedMidStream),
        reply::text("Now.").usage(second),
    ]);
    let (observed, reply) = caller(wire, script, QUICK).ask().await;
    let told: Vec<Usage> = observed.retries.iter().map(|(_, _, error)| *error.usage).collect();
    // In mid-stream Anthropic has counted the input, Gemini everything; OpenAI counts at the end.
    let by_then = match wire {
        WireKind::Anthropic => Usage { output_tokens: 1, ..first },
        WireKind::Gemini => first,
        WireKind::OpenAiChat | WireKind::OpenAiResponses => NOTHING,
    };
    assert_eq!(told, [by_then]);
    assert_eq!((reply.unwrap().usage, observed.used), (second, Some(second)));
}

pub(super) async fn usage_is_reported_while_streaming_and_with_the_cut(wire: WireKind) {
    let used = early(wire).map(|_| USED);
    let (observed, reply) = streaming(early(wire)).observe(wire, ONE_TRY).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cut, "{error}");
    assert_eq!((observed.used, *error.usage), (used, used.unwrap_or_default()));
}

pub(super) async fn every_failed_try_reports_its_usage(wire: WireKind) {
    let (observed, reply) = streaming(broken_off_after_all(wire)).observe(wire, QUICK).await;
    let error = reply.unwrap_err();
    let told: Vec<Usage> = observed.retries.iter().map(|(_, _, error)| *error.usage).chain([*error.usage]).collect();
    assert_eq!(told, [USED; 3], "each try its own, none the sum");
}

/// All events of a failing try: the early usage, then the failure.
fn broken_off_after_all(wire: WireKind) -> Vec<String> {
    early(wire).into_iter().chain([broken_off(wire)]).collect()
}

pub(super) async fn a_failure_event_with_usage_is_reported_with_it(wire: WireKind) {
    let error = streaming([broken_off(wire)]).observe(wire, ONE_TRY).await.1.unwrap_err();
    assert!(error.message.contains("broken"), "{error}");
    // Anthropic's errors have no field for it.
    let used = if wire == WireKind::Anthropic { NOTHING } else { USED };
    assert_eq!(*error.usage, used);
}

pub(super) async fn nothing_is_estimated_for_a_try_without_reported_usage(wire: WireKind) {
    for fault in [Fault::status(500), Fault::CutAfter(0)] {
        let script = Script::always(reply::text("Half.").fault(fault));
        let (observed, reply) = caller(wire, script, ONE_TRY).ask().await;
        assert_eq!((observed.used, *reply.unwrap_err().usage), (None, NOTHING));
    }
}

pub(super) async fn a_reply_in_one_document_counts_its_usage(wire: WireKind) {
    let field = if wire == WireKind::Gemini { "usageMetadata" } else { "usage" };
    let document = format!(r#"{{"model":"m","{field}":{}}}"#, said(wire));
    let server = OddServer::document("200 OK", "content-type: application/json\r\n", &document);
    let error = server.observe(wire, ONE_TRY).await.1.unwrap_err();
    assert_eq!((error.kind, *error.usage), (ErrorKind::BadRequest, USED), "{error}");
}
