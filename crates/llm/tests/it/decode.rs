//! Decoding of event streams, event by event, with the habits of real servers.

use expect_test::{Expect, expect};
use sortie_llm::wire::{Progress, for_kind};
use sortie_llm::{ErrorKind, ModelEvent, WireKind};
use sortie_protocol::{Part, Reply, StopReason};

/// Feeds the payloads. Returns the events observed, then the reply or the error.
pub(crate) fn decode(wire: WireKind, events: &[&str]) -> (String, Result<Reply, sortie_llm::ModelError>) {
    let mut decoder = for_kind(wire).decoder();
    let mut seen = String::new();
    for data in events {
        let fed = decoder.feed(data, &mut |event| {
            seen.push_str(&match event {
                ModelEvent::Text(text) => format!("text {text:?}\n"),
                ModelEvent::Reasoning(text) => format!("reasoning {text:?}\n"),
                ModelEvent::CallBegan { tool } => format!("call {tool}\n"),
                ModelEvent::Sending | ModelEvent::Used(_) | ModelEvent::Retrying { .. } => {
                    unreachable!("a decoder does not drive")
                }
            });
        });
        match fed {
            Ok(Progress::Done) => break,
            Ok(_) => {}
            Err(error) => return (seen, Err(error)),
        }
    }
    (seen, decoder.finish())
}

pub(crate) fn render(reply: &Reply) -> String {
    let mut lines = String::new();
    for part in &reply.parts {
        lines.push_str(&match part {
            Part::Text { text } => format!("text {text:?}\n"),
            Part::Reasoning(reasoning) => format!("reasoning {} {}\n", reasoning.wire, reasoning.item),
            Part::Call(call) => format!("call {} {} {}\n", call.id, call.tool, call.arguments),
        });
    }
    let usage = reply.usage;
    let tokens = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
        .map(|n| n.to_string());
    lines + &format!("{:?} {} [{}]\n", reply.stop, reply.model, tokens.join(" "))
}

pub(crate) fn check(wire: WireKind, events: &[&str], expected: &Expect) {
    let (_, reply) = decode(wire, events);
    expected.assert_eq(&reply.map_or_else(|error| format!("{:?}: {error}\n", error.kind), |reply| render(&reply)));
}

pub(crate) const ANTHROPIC: WireKind = WireKind::Anthropic;
pub(crate) const CHAT: WireKind = WireKind::OpenAiChat;

pub(crate) const ANTHROPIC_STREAM: [&str; 21] = [
    r#"{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":1}}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Looking."}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": "}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"LS","input":{}}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42}}"#,
    r#"{"type":"something_new","shape":[1,2]}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn an_anthropic_reply_with_everything_in_it() {
    let (seen, reply) = decode(ANTHROPIC, &ANTHROPIC_STREAM);
    expect![[r#"
        reasoning "Let me "
        reasoning "see."
        text "Looking."
        call Read
        call LS
        ---
        reasoning anthropic {"type":"thinking","thinking":"Let me see.","signature":"c2ln"}
        reasoning anthropic {"type":"redacted_thinking","data":"b3BhcXVl"}
        text "Looking."
        call toolu_1 Read {"path": "a"}
        call toolu_2 LS {}
        Calls claude-x [10 42 5 3]
    "#]]
    .assert_eq(&(seen + "---\n" + &render(&reply.unwrap())));
}

#[test]
fn an_anthropic_stream_without_its_end_event_is_cut() {
    for end in 0..ANTHROPIC_STREAM.len() {
        let (_, reply) = decode(ANTHROPIC, &ANTHROPIC_STREAM[..end]);
        assert_eq!(reply.unwrap_err().kind, ErrorKind::Cut, "after {end} events");
    }
}

#[test]
fn anthropic_compatible_servers_may_send_a_block_at_once() {
    check(
        ANTHROPIC,
        &[
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"All of it."}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Read","input":{"path":"a"}}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":7,"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        &expect![[r#"
            text "All of it."
            call t Read {"path":"a"}
            Calls  [7 2 0 0]
        "#]],
    );
}

const CHAT_STREAM: [&str; 11] = [
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"reasoning_content":"Let me "}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"reasoning_content":"see."}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"content":"Looking."}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"Read","arguments":""}}]}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"Grep","arguments":""}}]}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\": "}},{"index":1,"function":{"arguments":"{\"pattern\": "}}]}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"x\"}"}},{"index":0,"function":{"arguments":"\"a\"}"}}]}}]}"#,
    r#"{"model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"model":"gpt-x","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":42,"prompt_tokens_details":{"cached_tokens":5}}}"#,
    "[DONE]",
];

#[test]
fn a_chat_reply_with_interleaved_calls() {
    let (seen, reply) = decode(CHAT, &CHAT_STREAM);
    expect![[r#"
        reasoning "Let me "
        reasoning "see."
        text "Looking."
        call Read
        call Grep
        ---
        reasoning openai-chat {"reasoning_content":"Let me see."}
        text "Looking."
        call call_a Read {"path": "a"}
        call call_b Grep {"pattern": "x"}
        Calls gpt-x [13 42 5 0]
    "#]]
    .assert_eq(&(seen + "---\n" + &render(&reply.unwrap())));
}

#[test]
fn a_chat_stream_is_cut_until_its_finish_reason() {
    for end in 0..CHAT_STREAM.len() {
        let (_, reply) = decode(CHAT, &CHAT_STREAM[..end]);
        match end {
            0..=8 => assert_eq!(reply.unwrap_err().kind, ErrorKind::Cut, "after {end} events"),
            _ => assert_eq!(reply.unwrap().calls().count(), 2, "after {end} events"),
        }
    }
}

#[test]
fn chat_calls_are_separated_on_unusual_servers() {
    let calls = |deltas: &[&str]| {
        let mut events: Vec<String> =
            deltas.iter().map(|delta| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{delta}]}}}}]}}"#)).collect();
        events.push(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned());
        let reply = decode(CHAT, &events.iter().map(String::as_str).collect::<Vec<_>>()).1.unwrap();
        assert_eq!(reply.stop, StopReason::Calls, "calls are calls, whatever the server says");
        reply.calls().map(|call| format!("{} {}", call.tool, call.arguments)).collect::<Vec<_>>()
    };
    let expected = [r#"Read {"a":1}"#, r#"Grep {"b":2}"#];
    for (habit, deltas) in [
        (
            "no ids, whole arguments at once",
            &[
                r#"{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}"#,
                r#"{"index":1,"function":{"name":"Grep","arguments":"{\"b\":2}"}}"#,
            ][..],
        ),
        (
            "neither ids nor indexes",
            &[
                r#"{"function":{"name":"Read","arguments":"{\"a\":1}"}},{"function":{"name":"Grep","arguments":"{\"b\":2}"}}"#,
            ],
        ),
        (
            "ids without indexes, in pieces",
            &[
                r#"{"id":"x","function":{"name":"Read","arguments":"{\"a\""}}"#,
                r#"{"function":{"arguments":":1}"}}"#,
                r#"{"id":"y","function":{"name":"Grep","arguments":"{\"b\":2}"}}"#,
            ],
        ),
        (
            "the same index for all",
            &[
                r#"{"index":0,"id":"x","function":{"name":"Read","arguments":"{\"a\":1}"}}"#,
                r#"{"index":0,"id":"y","function":{"name":"Grep","arguments":"{\"b\":2}"}}"#,
            ],
        ),
        (
            "the same id for all",
            &[
                r#"{"index":0,"id":"x","function":{"name":"Read","arguments":"{\"a\":1}"}}"#,
                r#"{"index":1,"id":"x","function":{"name":"Grep","arguments":"{\"b\":2}"}}"#,
            ],
        ),
        (
            "id and name in every piece",
            &[
                r#"{"index":0,"id":"x","function":{"name":"Read","arguments":"{\"a\""}}"#,
                r#"{"index":0,"id":"x","function":{"name":"Read","arguments":":1}"}}"#,
                r#"{"index":1,"id":"y","function":{"name":"Grep","arguments":"{\"b\":2}"}}"#,
            ],
        ),
        (
            "arguments as an object",
            &[
                r#"{"index":0,"id":"x","function":{"name":"Read","arguments":{"a":1}}}"#,
                r#"{"index":1,"id":"y","function":{"name":"Grep","arguments":{"b":2}}}"#,
            ],
        ),
    ] {
        assert_eq!(calls(deltas), expected, "{habit}");
    }
    assert_eq!(calls(&[r#"{"index":0,"id":"x","function":{"name":"LS","arguments":""}}"#]), ["LS {}"]);
}

#[test]
fn absurd_accounting_counts_as_nothing() {
    for usage in ["null", "7", "[]", r#"{"prompt_tokens":-5,"completion_tokens":1e300}"#, r#"{"prompt_tokens":"many"}"#]
    {
        let chunk = format!(r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"stop"}}],"usage":{usage}}}"#);
        let reply = decode(CHAT, &[&chunk, "[DONE]"]).1.unwrap();
        assert_eq!(reply.usage.total_tokens(), 0, "{usage}");

        let start = format!(r#"{{"type":"message_start","message":{{"usage":{usage}}}}}"#);
        let reply = decode(ANTHROPIC, &[&start, r#"{"type":"message_stop"}"#]).1.unwrap();
        assert_eq!(reply.usage.total_tokens(), 0, "{usage}");
    }
}

#[test]
fn cached_input_above_the_input_is_counted_separately() {
    let more_cached_than_sent = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}}"#;
    let usage = decode(CHAT, &[more_cached_than_sent]).1.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (5, 9));
}

#[test]
fn errors_inside_a_stream_have_their_stated_kind() {
    for (error, kind) in [
        (r#"{"type":"overloaded_error","message":"Overloaded"}"#, ErrorKind::Overloaded),
        (r#"{"type":"api_error","message":"Internal server error"}"#, ErrorKind::Server),
        (r#"{"type":"server_error","message":"oops"}"#, ErrorKind::Server),
        (r#"{"type":"rate_limit_error","message":"slow down"}"#, ErrorKind::RateLimited),
        (r#"{"code":"rate_limit_exceeded","message":"slow down"}"#, ErrorKind::RateLimited),
        (r#"{"code":503,"message":"no instance"}"#, ErrorKind::Overloaded),
        (r#"{"type":"authentication_error","message":"bad key"}"#, ErrorKind::Auth),
        (
            r#"{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}"#,
            ErrorKind::ContextLength,
        ),
        (r#"{"type":"invalid_request_error","message":"no"}"#, ErrorKind::BadRequest),
        (r#"{"code":"insufficient_quota","type":"insufficient_quota","message":"pay"}"#, ErrorKind::Auth),
        (r#"{"type":"rate_limit_error","message":"too many tokens, wait"}"#, ErrorKind::RateLimited),
        (r#"{"message":"who knows"}"#, ErrorKind::Server),
    ] {
        let typed = format!(r#"{{"type":"error","error":{error}}}"#);
        let untyped = format!(r#"{{"error":{error}}}"#);
        let listed = format!("[{untyped}]");
        for event in [typed, untyped, listed] {
            for wire in WireKind::ALL {
                let (_, reply) = decode(wire, &[&event]);
                assert_eq!(reply.unwrap_err().kind, kind, "{wire} {event}");
            }
        }
    }
}

#[test]
fn a_bare_error_inside_a_chat_stream_is_an_error() {
    let event = r#"{"object":"error","message":"the model\nbroke","type":"BadRequestError","code":400}"#;
    check(
        CHAT,
        &[r#"{"choices":[{"delta":{"content":"Hi."}}]}"#, event],
        &expect![[r#"
            BadRequest: the model broke
        "#]],
    );
}

#[test]
fn a_payload_in_another_format_is_garbage() {
    for event in ["", "{", "null", "[]", r#"{"type":7}"#, r#"{"choices":"none"}"#, "<html>"] {
        for wire in WireKind::ALL {
            // An object of another shape means nothing on either wire, which the end of the stream then shows.
            let kind = decode(wire, &[event]).1.unwrap_err().kind;
            assert!(matches!(kind, ErrorKind::Garbage | ErrorKind::Cut), "{wire} {event:?}: {kind:?}");
        }
    }
    check(
        CHAT,
        &[r#"{"choices":[{"delta":"#],
        &expect![[r#"
        Garbage: the provider's response is not in its format: EOF while parsing a value at line 1 column 21 in `{"choices":[{"delta":`
    "#]],
    );
    check(
        ANTHROPIC,
        &[r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}"#],
        &expect![[r#"
            Garbage: the provider's response is not in its format: a delta outside its block in `{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}…`
        "#]],
    );
}

#[test]
fn empty_deltas_are_not_content() {
    let progress = |wire: WireKind, events: &[&str]| {
        let mut decoder = for_kind(wire).decoder();
        events.iter().fold(Progress::Quiet, |_, event| decoder.feed(event, &mut |_| {}).unwrap())
    };
    let text = |text: &str| {
        let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
        let delta =
            format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#);
        progress(ANTHROPIC, &[start, &delta])
    };
    let content = |text: &str| progress(CHAT, &[&format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#)]);
    for blank in ["", " ", r"\n"] {
        assert_eq!((text(blank), content(blank)), (Progress::Quiet, Progress::Quiet), "{blank:?}");
    }
    assert_eq!((text("x"), content("x")), (Progress::Content, Progress::Content));
    assert_eq!(progress(ANTHROPIC, &[r#"{"type":"ping"}"#]), Progress::Quiet);
    assert_eq!(progress(CHAT, &[r#"{"choices":[]}"#]), Progress::Quiet);
}

#[test]
fn a_ping_counts_only_inside_a_block_of_thinking() {
    let mut decoder = for_kind(ANTHROPIC).decoder();
    let mut feed = |event: &str| decoder.feed(event, &mut |_| {}).unwrap();
    let ping = r#"{"type":"ping"}"#;
    assert_eq!(feed(ping), Progress::Quiet);
    feed(r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#);
    assert_eq!(feed(ping), Progress::Reasoning);
    let hidden = r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}}"#;
    assert_eq!(feed(hidden), Progress::Reasoning);
    assert_eq!(feed(r#"{"type":"content_block_stop","index":0}"#), Progress::Quiet);
    feed(r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#);
    assert_eq!(feed(ping), Progress::Quiet);
}
