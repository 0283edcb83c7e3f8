//! Endings of replies: complete, cut or withheld, and the fate of their calls.

use expect_test::expect;
use sortie_llm::{ErrorKind, WireKind};
use sortie_protocol::StopReason;

use crate::decode::{ANTHROPIC, ANTHROPIC_STREAM, CHAT, check, decode};

/// A message with text and then a call with these arguments, ending for a reason.
fn anthropic(arguments: &str, finished: bool, reason: &str) -> Vec<String> {
    let arguments = serde_json::Value::from(arguments);
    let mut events = vec![
        r#"{"type":"message_start","message":{"model":"claude-x"}}"#.to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Well."}}"#.to_owned(),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"Read","input":{}}}"#.to_owned(),
        format!(r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":{arguments}}}}}"#),
    ];
    events.extend(finished.then(|| r#"{"type":"content_block_stop","index":1}"#.to_owned()));
    events.push(format!(r#"{{"type":"message_delta","delta":{{"stop_reason":{reason}}}}}"#));
    events.push(r#"{"type":"message_stop"}"#.to_owned());
    events
}

/// The chat version of [`anthropic`]; that wire does not mark the end of a call.
fn chat(arguments: &str, reason: &str) -> Vec<String> {
    let arguments = serde_json::Value::from(arguments);
    vec![
        r#"{"model":"gpt-x","choices":[{"delta":{"content":"Well."}}]}"#.to_owned(),
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"Read","arguments":{arguments}}}}}]}}}}]}}"#
        ),
        format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{reason}}}]}}"#),
        "[DONE]".to_owned(),
    ]
}

/// One line: the stop reason, text and calls, or the kind of the error.
fn ended(wire: WireKind, events: &[String]) -> String {
    match decode(wire, &events.iter().map(String::as_str).collect::<Vec<_>>()).1 {
        Ok(reply) => {
            let calls: Vec<_> = reply.calls().map(|call| format!(" {} {}", call.tool, call.arguments)).collect();
            format!("{:?} {}{}", reply.stop, reply.text(), calls.concat())
        }
        Err(error) => format!("{:?}", error.kind),
    }
}

#[test]
fn stop_reasons_are_the_same_four_on_every_wire() {
    let anthropic = |reason: &str| {
        let end = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        decode(ANTHROPIC, &[&end, r#"{"type":"message_stop"}"#]).1.unwrap().stop
    };
    let chat = |reason: &str| {
        let end = format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
        decode(CHAT, &[&end, "[DONE]"]).1.unwrap().stop
    };
    for (of_anthropic, of_chat, stop) in [
        ("end_turn", "stop", StopReason::End),
        ("stop_sequence", "something_new", StopReason::End),
        ("something_new", "stop", StopReason::End),
        ("max_tokens", "length", StopReason::Length),
        ("pause_turn", "model_length", StopReason::Length),
        ("refusal", "content_filter", StopReason::Refusal),
        // Neither sent a call, so there is nothing to run.
        ("tool_use", "tool_calls", StopReason::End),
    ] {
        assert_eq!(anthropic(of_anthropic), stop, "{of_anthropic}");
        assert_eq!(chat(of_chat), stop, "{of_chat}");
    }
}

#[test]
fn a_withheld_reply_keeps_its_text_and_loses_its_calls() {
    for arguments in ["", r#"{"path""#, r#"{"path":"a"}"#] {
        for finished in [true, false] {
            let events = anthropic(arguments, finished, r#""refusal""#);
            assert_eq!(ended(ANTHROPIC, &events), "Refusal Well.", "{arguments}");
        }
        assert_eq!(ended(CHAT, &chat(arguments, r#""content_filter""#)), "Refusal Well.", "{arguments}");
        let mut refused = chat(arguments, r#""stop""#);
        refused.insert(1, r#"{"choices":[{"delta":{"refusal":" No."}}]}"#.to_owned());
        assert_eq!(ended(CHAT, &refused), "Refusal Well. No.", "{arguments}");
    }
}

#[test]
fn missing_arguments_are_an_empty_object_only_in_a_complete_reply() {
    assert_eq!(ended(ANTHROPIC, &anthropic("", true, r#""tool_use""#)), "Calls Well. Read {}");
    assert_eq!(ended(ANTHROPIC, &anthropic("", true, r#""max_tokens""#)), "Length Well. Read ");
    for reason in [r#""tool_calls""#, r#""stop""#] {
        assert_eq!(ended(CHAT, &chat("", reason)), "Calls Well. Read {}", "{reason}");
    }
    assert_eq!(ended(CHAT, &chat("", r#""length""#)), "Length Well. Read ");
}

#[test]
fn a_chat_reply_without_a_finish_reason_is_cut_despite_an_end_mark() {
    for arguments in ["", r#"{"path""#, r#"{"path":"a"}"#] {
        assert_eq!(ended(CHAT, &chat(arguments, "null")), "Cut", "{arguments}");
    }
    let text = r#"{"choices":[{"delta":{"content":"Well"}}]}"#;
    assert_eq!(decode(CHAT, &[text, "[DONE]"]).1.unwrap_err().kind, ErrorKind::Cut);
    assert_eq!(decode(CHAT, &["[DONE]"]).1.unwrap_err().kind, ErrorKind::Cut);
}

#[test]
fn a_reply_with_an_unknown_stop_reason_must_be_complete_by_itself() {
    let whole = r#"{"path":"a"}"#;
    for reason in [r#""something_new""#, "null"] {
        assert_eq!(ended(ANTHROPIC, &anthropic(whole, true, reason)), format!("Calls Well. Read {whole}"), "{reason}");
        assert_eq!(ended(ANTHROPIC, &anthropic(whole, false, reason)), "Garbage", "{reason}");
    }
    assert_eq!(ended(CHAT, &chat(whole, r#""something_new""#)), format!("Calls Well. Read {whole}"));
    for half in ["", r#"{"path""#] {
        assert_eq!(ended(CHAT, &chat(half, r#""something_new""#)), "Garbage", "{half}");
    }
    assert_eq!(ended(CHAT, &chat(whole, r#""error""#)), "Server");
}

#[test]
fn a_pause_is_a_cap_and_a_full_window_is_an_error() {
    let whole = r#"{"path":"a"}"#;
    assert_eq!(ended(ANTHROPIC, &anthropic(whole, true, r#""pause_turn""#)), format!("Length Well. Read {whole}"));
    let events = anthropic(whole, true, r#""model_context_window_exceeded""#);
    check(
        ANTHROPIC,
        &events.iter().map(String::as_str).collect::<Vec<_>>(),
        &expect![[r#"
            ContextLength: the conversation no longer fits the model's context window; start a new one with less in it
        "#]],
    );
}

#[test]
fn an_unfinished_anthropic_call_is_not_returned() {
    let without_block_end: Vec<&str> =
        ANTHROPIC_STREAM.into_iter().filter(|event| *event != r#"{"type":"content_block_stop","index":3}"#).collect();
    let (_, reply) = decode(ANTHROPIC, &without_block_end);
    assert_eq!(reply.unwrap_err().kind, ErrorKind::Garbage);
}

#[test]
fn a_call_cut_by_the_output_cap_is_kept_as_it_came() {
    for finished in [true, false] {
        let events = anthropic(r#"{"pa"#, finished, r#""max_tokens""#);
        assert_eq!(ended(ANTHROPIC, &events), r#"Length Well. Read {"pa"#);
    }
    assert_eq!(ended(CHAT, &chat(r#"{"pa"#, r#""length""#)), r#"Length Well. Read {"pa"#);
}
