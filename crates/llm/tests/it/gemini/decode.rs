//! Decoding of Gemini's events.

use expect_test::expect;
use sortie_llm::ErrorKind;
use sortie_llm::wire::{Progress, for_kind};
use sortie_protocol::StopReason;

use super::WIRE;
use crate::decode::{check, decode, render};

const STREAM: [&str; 8] = [
    r#"{"candidates":[{"content":{"parts":[{"text":"Let me ","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":18,"cachedContentTokenCount":5,"totalTokenCount":18},"modelVersion":"gemini-3-pro"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"see.","thought":true}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"Look"}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"ing"},{"text":".","thoughtSignature":"dGV4dA=="}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":" Now."}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a1","name":"Read","args":{"path": "a","n":1.0}},"thoughtSignature":"Y2FsbA=="},{"functionCall":{"id":"b2","name":"LS"}}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"ZW5k"}],"role":"model"},"index":0}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":18,"cachedContentTokenCount":5,"candidatesTokenCount":30,"thoughtsTokenCount":12,"toolUsePromptTokenCount":2,"totalTokenCount":62},"modelVersion":"gemini-3-pro"}"#,
];

#[test]
fn a_reply_with_everything_in_it() {
    let (seen, reply) = decode(WIRE, &STREAM);
    expect![[r#"
        reasoning "Let me "
        reasoning "see."
        text "Look"
        text "ing"
        text "."
        text " Now."
        call Read
        call LS
        ---
        reasoning gemini {"text":"Let me see.","thought":true}
        text "Looking"
        reasoning gemini {"thoughtSignature":"dGV4dA=="}
        text "."
        text " Now."
        reasoning gemini {"thoughtSignature":"Y2FsbA=="}
        call a1 Read {"path": "a","n":1.0}
        call b2 LS {}
        reasoning gemini {"text":"","thoughtSignature":"ZW5k"}
        Calls gemini-3-pro [15 42 5 0]
    "#]]
    .assert_eq(&(seen + "---\n" + &render(&reply.unwrap())));
}

#[test]
fn a_stream_is_cut_until_its_finish_reason() {
    for end in 0..STREAM.len() {
        let (_, reply) = decode(WIRE, &STREAM[..end]);
        assert_eq!(reply.unwrap_err().kind, ErrorKind::Cut, "after {end} events");
    }
}

/// A reply with these parts and this finish reason, in one line.
fn ended(parts: &str, reason: &str) -> String {
    let candidate =
        format!(r#"{{"content":{{"parts":[{parts}]}},"finishReason":"{reason}","finishMessage":"so\nit is"}}"#);
    match decode(WIRE, &[&format!(r#"{{"candidates":[{candidate}]}}"#)]).1 {
        Ok(reply) => format!("{:?} {:?} {} calls", reply.stop, reply.text(), reply.calls().count()),
        Err(error) => format!("{:?}: {error}", error.kind),
    }
}

const TEXT: &str = r#"{"text":"Well."}"#;
const TEXT_AND_CALL: &str = r#"{"text":"Well."},{"functionCall":{"name":"LS","args":{}}}"#;

#[test]
fn a_reply_ends_as_its_finish_reason_says() {
    for (reason, expected) in [
        ("STOP", r#"Calls "Well." 1 calls"#),
        ("MAX_TOKENS", r#"Length "Well." 1 calls"#),
        ("CONTINUATION", r#"Length "Well." 1 calls"#),
        ("SAFETY", r#"Refusal "Well." 0 calls"#),
        ("RECITATION", r#"Refusal "Well." 0 calls"#),
        ("BLOCKLIST", r#"Refusal "Well." 0 calls"#),
        ("PROHIBITED_CONTENT", r#"Refusal "Well." 0 calls"#),
        ("SPII", r#"Refusal "Well." 0 calls"#),
        ("LANGUAGE", r#"Refusal "Well." 0 calls"#),
        ("IMAGE_SAFETY", r#"Refusal "Well." 0 calls"#),
        ("IMAGE_PROHIBITED_CONTENT", r#"Refusal "Well." 0 calls"#),
        // The reply may be incomplete.
        ("OTHER", r#"Length "Well." 1 calls"#),
        ("SOMETHING_NEW", r#"Length "Well." 1 calls"#),
    ] {
        assert_eq!(ended(TEXT_AND_CALL, reason), expected, "{reason}");
    }
    assert_eq!(ended(TEXT, "STOP"), r#"End "Well." 0 calls"#);
    assert_eq!(ended(TEXT, "FINISH_REASON_UNSPECIFIED"), r#"Length "Well." 0 calls"#);
    assert_eq!(ended("", "STOP"), r#"End "" 0 calls"#);
}

#[test]
fn a_reply_that_the_provider_could_not_parse_is_an_error() {
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"] {
        assert_eq!(
            ended(TEXT, reason),
            format!("Garbage: the provider ended its reply without an answer, with the reason `{reason}`: so it is")
        );
    }
    // A retry would change nothing.
    assert!(ended("", "MISSING_THOUGHT_SIGNATURE").starts_with("BadRequest: "));
    assert!(ended(r#"{"text":"Hm.","thought":true}"#, "OTHER").starts_with("Garbage: "));
}

#[test]
fn a_prompt_that_is_blocked_is_refused() {
    let event = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":7}}"#;
    check(
        WIRE,
        &[event],
        &expect![[r#"
        Refusal  [7 0 0 0]
    "#]],
    );
}

#[test]
fn cached_input_above_the_input_is_counted_separately() {
    let event = r#"{"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":9}}"#;
    let usage = decode(WIRE, &[event]).1.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (5, 9));
}

#[test]
fn other_candidates_and_kinds_of_parts_are_ignored() {
    let event = r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"No."}]},"finishReason":"STOP"},{"index":0,"content":{"parts":[{"executableCode":{"code":"1"}},{"text":"Yes."}]}}]}"#;
    let (seen, reply) = decode(WIRE, &[event]);
    assert_eq!(seen, "text \"Yes.\"\n");
    assert_eq!(reply.unwrap_err().kind, ErrorKind::Cut);
}

#[test]
fn signatures_and_calls_are_content_and_counts_are_not() {
    let progress = |event: &str| for_kind(WIRE).decoder().feed(event, &mut |_| {}).unwrap();
    let part = |part: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#);
    for (event, expected) in [
        (part(r#"{"text":""}"#), Progress::Quiet),
        (part(r#"{"text":"\n"}"#), Progress::Quiet),
        (part(r#"{"text":"","thought":true}"#), Progress::Quiet),
        (part(r#"{"text":"x"}"#), Progress::Content),
        (part(r#"{"text":"x","thought":true}"#), Progress::Content),
        (part(r#"{"text":"","thoughtSignature":"eA=="}"#), Progress::Content),
        (part(r#"{"functionCall":{"name":"LS"}}"#), Progress::Content),
        (r#"{"usageMetadata":{"promptTokenCount":7}}"#.to_owned(), Progress::Quiet),
        (r#"{"candidates":[{"finishReason":"STOP"}]}"#.to_owned(), Progress::Whole),
    ] {
        assert_eq!(progress(&event), expected, "{event}");
    }
}

#[test]
fn a_call_without_an_id_has_an_empty_one() {
    let event = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"LS"}}]},"finishReason":"STOP"}]}"#;
    let reply = decode(WIRE, &[event]).1.unwrap();
    let call = reply.calls().next().unwrap();
    assert_eq!((call.id.0.as_str(), call.arguments.as_str(), reply.stop), ("", "{}", StopReason::Calls));
}
