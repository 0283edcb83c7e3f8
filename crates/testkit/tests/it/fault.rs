//! Faults of the server, byte by byte, on every wire.

use std::time::{Duration, Instant};

use serde_json::json;
use sortie_testkit::{Fault, Script, ScriptedReply, ScriptedServer, StatusFault, reply};

use crate::client::{Client, Response, Wire, ask, streaming};

fn answer() -> ScriptedReply {
    reply::text("Reading, naïvely.").calls([reply::call("Read", json!({ "path": "src/lib.rs" }))])
}

fn stream(wire: Wire, reply: ScriptedReply) -> Response {
    let server = ScriptedServer::start(Script::always(reply)).unwrap();
    ask(&server, wire, &streaming(wire.request("x")))
}

fn document(wire: Wire, reply: ScriptedReply) -> Response {
    let server = ScriptedServer::start(Script::always(reply)).unwrap();
    ask(&server, wire, &wire.request("x"))
}

fn has_end_mark(wire: Wire, response: &Response) -> bool {
    match wire {
        Wire::Anthropic => response.body.contains("event: message_stop"),
        Wire::Gemini => response.body.contains(r#""finishReason":"#),
        Wire::OpenAi => response.body.ends_with("data: [DONE]\n\n"),
        Wire::OpenAiResponses => {
            response.body.contains("event: response.completed") || response.body.contains("event: response.incomplete")
        }
    }
}

#[test]
fn a_reply_without_a_fault_arrives_whole_in_one_chunk() {
    for wire in Wire::ALL {
        let response = stream(wire, answer());
        assert!(response.whole && has_end_mark(wire, &response), "{wire:?}");
        assert_eq!(response.chunks, [response.body.len()]);
    }
}

#[test]
fn chunks_have_the_scripted_size() {
    for wire in Wire::ALL {
        let whole = stream(wire, answer()).body;
        let response = stream(wire, answer().in_chunks_of(7));
        assert_eq!((&response.body, response.whole), (&whole, true));
        let (last, others) = response.chunks.split_last().unwrap();
        assert!(others.iter().all(|size| *size == 7) && *last <= 7, "{:?}", response.chunks);
    }
}

#[test]
fn a_cut_sends_the_exact_number_of_bytes_and_breaks_the_connection() {
    for wire in Wire::ALL {
        let whole = stream(wire, answer()).body;
        for bytes in [0, 1, whole.len() / 2, whole.len()] {
            let response = stream(wire, answer().fault(Fault::CutAfter(bytes)));
            // Compared as bytes, since a cut may split a character.
            let expected = String::from_utf8_lossy(&whole.as_bytes()[..bytes]);
            assert_eq!((response.body.as_str(), response.whole), (&*expected, false), "{wire:?} {bytes}");
        }
        let response = document(wire, answer().fault(Fault::CutAfter(20)));
        assert_eq!((response.body.len(), response.whole), (20, false), "{wire:?}");
    }
}

#[test]
fn an_early_end_is_orderly_for_http_but_lacks_the_end_mark() {
    for wire in Wire::ALL {
        let response = stream(wire, answer().fault(Fault::EndAfter(200)));
        assert_eq!((response.body.len(), response.whole), (200, true), "{wire:?}");
        assert!(!has_end_mark(wire, &response), "{wire:?}");
    }
}

#[tokio::test]
async fn a_stall_keeps_the_connection_until_the_client_leaves() {
    for wire in Wire::ALL {
        let whole = stream(wire, answer()).body;
        let server = ScriptedServer::start(Script::always(answer().fault(Fault::StallAfter(90)))).unwrap();
        let mut client = Client::connect(&server);
        client.post_on(wire, &streaming(wire.request("x")));
        let beginning = &whole[..90];
        assert!(client.take_through(beginning).is_some(), "{wire:?}");
        assert_eq!(server.traffic().in_flight, 1, "{wire:?}");
        drop(client);
        let traffic = server.traffic_reaches(|traffic| traffic.open_connections == 0).await;
        assert_eq!(traffic.abandoned, 1, "{wire:?}");
    }
}

#[test]
fn keep_alives_continue_without_any_content() {
    for wire in Wire::ALL {
        let server = ScriptedServer::start(Script::always(answer().fault(Fault::KeepAlivesOnly))).unwrap();
        let mut client = Client::connect(&server);
        client.post_on(wire, &streaming(wire.request("x")));
        let life: String = (0..3).map(|_| client.take_through(": keep-alive\n\n").unwrap()).collect();
        assert!(!life.contains("Reading"), "{life}");
        let blank = match wire {
            Wire::Anthropic => r#""delta":{"type":"text_delta","text":""}"#,
            Wire::Gemini => r#""parts":[{"text":""}]"#,
            Wire::OpenAi => r#""delta":{"content":""}"#,
            Wire::OpenAiResponses => r#""delta":"""#,
        };
        assert_eq!(life.matches(blank).count(), 2, "{life}");
    }
}

#[test]
fn an_overload_in_mid_stream_has_the_shape_of_the_provider() {
    for wire in Wire::ALL {
        let response = stream(wire, answer().fault(Fault::OverloadedMidStream));
        let body = response.body.replace("\r\n", "\n");
        let last = body.trim_end().rsplit("\n\n").next().unwrap();
        match wire {
            Wire::Anthropic => assert_eq!(
                last,
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"
            ),
            Wire::Gemini => assert_eq!(
                last,
                r#"data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#
            ),
            Wire::OpenAi => {
                let error: serde_json::Value = serde_json::from_str(last.strip_prefix("data: ").unwrap()).unwrap();
                assert_eq!(error["error"]["type"], "server_error");
            }
            Wire::OpenAiResponses => {
                let data = last.strip_prefix("event: error\ndata: ").unwrap();
                let error: serde_json::Value = serde_json::from_str(data).unwrap();
                assert_eq!((&error["type"], &error["error"]["type"]), (&json!("error"), &json!("server_error")));
            }
        }
        assert!(response.whole && !has_end_mark(wire, &response));
        assert!(response.body.contains("Read"), "half of the answer came before: {}", response.body);
    }
}

#[test]
fn garbage_is_not_json() {
    for wire in Wire::ALL {
        let response = stream(wire, answer().fault(Fault::Garbage));
        let last = response.body.trim_end().rsplit("data: ").next().unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(last).is_err(), "{last}");
        let response = document(wire, answer().fault(Fault::Garbage));
        assert_eq!(response.status, 200);
        assert!(serde_json::from_str::<serde_json::Value>(&response.body).is_err());
    }
}

#[test]
fn a_slow_answer_is_whole_in_the_end() {
    for wire in Wire::ALL {
        let whole = stream(wire, answer()).body;
        let start = Instant::now();
        let response = stream(wire, answer().in_chunks_of(400).fault(Fault::SlowDrip { ms: 10 }));
        assert_eq!(response.body, whole);
        let pauses = u32::try_from(response.chunks.len()).unwrap();
        assert!(pauses > 1 && start.elapsed() >= Duration::from_millis(10) * pauses);
    }
}

#[test]
fn an_empty_answer_is_valid_and_has_no_content() {
    let anthropic = document(Wire::Anthropic, answer().fault(Fault::Empty)).json();
    assert_eq!((&anthropic["content"], &anthropic["stop_reason"]), (&json!([]), &json!("end_turn")));
    let openai = document(Wire::OpenAi, answer().fault(Fault::Empty)).json();
    assert_eq!(openai["choices"][0]["message"]["content"], "");
    let responses = document(Wire::OpenAiResponses, answer().fault(Fault::Empty)).json();
    assert_eq!((&responses["output"], &responses["status"]), (&json!([]), &json!("completed")));
    let gemini = document(Wire::Gemini, answer().fault(Fault::Empty)).json();
    assert_eq!(gemini["candidates"][0]["content"]["parts"], json!([{ "text": "" }]));
    for wire in Wire::ALL {
        assert!(has_end_mark(wire, &stream(wire, answer().fault(Fault::Empty))));
    }
}

#[test]
fn truncated_arguments_end_in_the_middle_at_the_output_cap() {
    let response = document(Wire::OpenAi, answer().fault(Fault::TruncatedArguments)).json();
    let choice = &response["choices"][0];
    assert_eq!(choice["finish_reason"], "length");
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], r#"{"path":"s"#);
    let response = stream(Wire::Anthropic, answer().fault(Fault::TruncatedArguments));
    assert!(response.body.contains(r#""stop_reason":"max_tokens""#));
    let response = document(Wire::OpenAiResponses, answer().fault(Fault::TruncatedArguments)).json();
    assert_eq!(response["incomplete_details"]["reason"], "max_output_tokens");
    let call = &response["output"][1];
    assert_eq!((&call["arguments"], &call["status"]), (&json!(r#"{"path":"s"#), &json!("incomplete")));
    let response = stream(Wire::Gemini, answer().fault(Fault::TruncatedArguments));
    assert!(response.body.contains(r#""finishReason":"MAX_TOKENS""#));
    assert!(!response.body.contains("functionCall"), "a call is given out whole or not at all: {}", response.body);
}

#[test]
fn a_status_comes_with_the_error_of_the_provider_and_its_headers() {
    for wire in Wire::ALL {
        let limited = document(wire, reply::fault(Fault::rate_limited("2")));
        let (pointer, kind, wait) = match wire {
            Wire::Anthropic => ("/error/type", "rate_limit_error", Some("2")),
            Wire::Gemini => ("/error/status", "RESOURCE_EXHAUSTED", None),
            Wire::OpenAi | Wire::OpenAiResponses => ("/error/type", "requests", Some("2")),
        };
        assert_eq!((limited.status, limited.header("retry-after")), (429, wait));
        assert_eq!(limited.json().pointer(pointer), Some(&json!(kind)));
        let details = limited.json()["error"]["details"].to_string();
        assert_eq!(details.contains(r#""retryDelay":"2s""#), wait.is_none(), "{details}");
        let own_words = StatusFault { code: 418, retry_after: None, message: Some("short and stout".to_owned()) };
        let response = stream(wire, reply::fault(Fault::Status(own_words)));
        assert_eq!((response.status, &response.json()["error"]["message"]), (418, &json!("short and stout")));
    }
}
