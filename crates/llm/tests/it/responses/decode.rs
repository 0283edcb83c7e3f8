//! Decoding of Responses streams.

use expect_test::expect;
use serde_json::Value;
use sortie_llm::ErrorKind;
use sortie_llm::wire::{Progress, for_kind};
use sortie_protocol::StopReason;

use super::{RESPONSES, STREAM};
use crate::decode::{check, decode, render};

#[test]
fn a_reply_with_everything_in_it() {
    let (seen, reply) = decode(RESPONSES, &STREAM);
    expect![[r#"
        reasoning "Let me "
        reasoning "see."
        text "Look"
        text "ing."
        call Read
        call LS
        ---
        reasoning openai-responses {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Let me see."}],"encrypted_content":"c2VhbGVk"}
        reasoning openai-responses {"message":{"phase":"commentary"}}
        text "Looking."
        call call_a Read {"path": "a"}
        call call_b LS {}
        Calls gpt-x-1 [10 42 5 3]
    "#]].assert_eq(&(seen + "---\n" + &render(&reply.unwrap())));
}

#[test]
fn a_stream_without_its_last_event_is_cut_despite_an_end_mark() {
    for end in 0..STREAM.len() {
        let (_, reply) = decode(RESPONSES, &STREAM[..end]);
        assert_eq!(reply.unwrap_err().kind, ErrorKind::Cut, "after {end} events");
        let (_, reply) = decode(RESPONSES, &[&STREAM[..end], &["[DONE]"]].concat());
        assert_eq!(reply.unwrap_err().kind, ErrorKind::Cut, "after {end} events and a mark");
    }
}

#[test]
fn servers_may_send_items_at_once_or_only_at_the_end() {
    let message = r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"All of it."},{"type":"output_text","text":" And more."}]}"#;
    let call = r#"{"type":"function_call","call_id":"c","name":"Read","arguments":"{\"path\":\"a\"}"}"#;
    let expected = expect![[r#"
        text "All of it. And more."
        call Read
        ---
        text "All of it. And more."
        call c Read {"path":"a"}
        Calls m [7 2 0 0]
    "#]];
    let usage = r#""model":"m","usage":{"input_tokens":7,"output_tokens":2}"#;
    for events in [
        vec![
            format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{message}}}"#),
            format!(r#"{{"type":"response.output_item.done","output_index":1,"item":{call}}}"#),
            format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[],{usage}}}}}"#),
        ],
        vec![format!(
            r#"{{"type":"response.completed","response":{{"status":"completed","output":[{message},{call}],{usage}}}}}"#
        )],
    ] {
        let (seen, reply) = decode(RESPONSES, &events.iter().map(String::as_str).collect::<Vec<_>>());
        expected.assert_eq(&(seen + "---\n" + &render(&reply.unwrap())));
    }
}

/// A reply with text and then a call with these arguments, whose item may be unfinished.
fn ending(arguments: &str, finished: bool, end: &str) -> String {
    let arguments = Value::from(arguments);
    let mut events = vec![
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Well."}]}}"#.to_owned(),
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"Read","arguments":""}}"#.to_owned(),
        format!(r#"{{"type":"response.function_call_arguments.delta","output_index":1,"delta":{arguments}}}"#),
    ];
    events.extend(finished.then(|| {
        format!(
            r#"{{"type":"response.output_item.done","output_index":1,"item":{{"type":"function_call","call_id":"c","name":"Read","arguments":{arguments}}}}}"#
        )
    }));
    events.push(end.to_owned());
    match decode(RESPONSES, &events.iter().map(String::as_str).collect::<Vec<_>>()).1 {
        Ok(reply) => {
            let calls: Vec<_> = reply.calls().map(|call| format!(" {} {}", call.tool, call.arguments)).collect();
            format!("{:?} {}{}", reply.stop, reply.text(), calls.concat())
        }
        Err(error) => format!("{:?}", error.kind),
    }
}

fn incomplete(reason: &str) -> String {
    format!(
        r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}}}}}}"#
    )
}

const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed"}}"#;

#[test]
fn replies_end_complete_capped_or_withheld() {
    let whole = r#"{"path":"a"}"#;
    assert_eq!(ending(whole, true, COMPLETED), format!("Calls Well. Read {whole}"));
    assert_eq!(ending("", true, COMPLETED), "Calls Well. Read {}", "missing arguments are an empty object");
    assert_eq!(ending(whole, false, COMPLETED), "Garbage", "a call that never ended is not given out");
    for finished in [true, false] {
        assert_eq!(ending(r#"{"pa"#, finished, &incomplete("max_output_tokens")), r#"Length Well. Read {"pa"#);
        assert_eq!(ending(r#"{"pa"#, finished, &incomplete("something_new")), r#"Length Well. Read {"pa"#);
        assert_eq!(ending(whole, finished, &incomplete("content_filter")), "Refusal Well.");
    }
    assert_eq!(ending("", true, &incomplete("max_output_tokens")), "Length Well. Read ");
    let reasonless = r#"{"type":"response.incomplete","response":{}}"#;
    assert_eq!(ending(whole, true, reasonless), format!("Length Well. Read {whole}"));
}

#[test]
fn a_refusal_is_text_that_withholds_the_reply() {
    let refused = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}"#,
        r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"No."}"#,
        COMPLETED,
    ];
    let (seen, reply) = decode(RESPONSES, &refused);
    let reply = reply.unwrap();
    assert_eq!((seen.as_str(), reply.text().as_str(), reply.stop), ("text \"No.\"\n", "No.", StopReason::Refusal));
    let empty_end = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[]}}"#;
    let reply = decode(RESPONSES, &[refused[0], refused[1], empty_end, COMPLETED]).1.unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("No.", StopReason::Refusal));
    let at_once = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"No."}]}}"#;
    let reply = decode(RESPONSES, &[at_once, COMPLETED]).1.unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("No.", StopReason::Refusal));
}

#[test]
fn unfinished_reasoning_is_not_kept() {
    let begun = r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"half"}}"#;
    let (_, reply) = decode(RESPONSES, &[begun, &incomplete("max_output_tokens")]);
    let reply = reply.unwrap();
    assert_eq!((reply.parts.len(), reply.stop), (0, StopReason::Length));
}

#[test]
fn failures_of_every_shape_have_their_stated_kind() {
    for (error, kind) in [
        (r#"{"code":"server_error","message":"The server had an error"}"#, ErrorKind::Server),
        (r#"{"code":"server_error","message":"The model is currently overloaded"}"#, ErrorKind::Overloaded),
        (r#"{"code":"rate_limit_exceeded","message":"Rate limit reached"}"#, ErrorKind::RateLimited),
        (r#"{"code":"invalid_prompt","message":"Your prompt was flagged"}"#, ErrorKind::BadRequest),
        (r#"{"code":"bio_policy","message":"Not allowed"}"#, ErrorKind::BadRequest),
        (r#"{"code":"image_parse_error","message":"Not an image"}"#, ErrorKind::BadRequest),
        (r#"{"code":"invalid_api_key","message":"Incorrect API key"}"#, ErrorKind::Auth),
        (
            r#"{"code":"context_length_exceeded","message":"Your input exceeds the context window"}"#,
            ErrorKind::ContextLength,
        ),
    ] {
        let fields = error.trim_start_matches('{');
        for event in [
            format!(r#"{{"type":"response.failed","response":{{"status":"failed","error":{error}}}}}"#),
            format!(r#"{{"type":"error","error":{error},"sequence_number":2}}"#),
            format!(r#"{{"type":"error","sequence_number":2,{fields}"#),
        ] {
            let (_, reply) = decode(RESPONSES, &[STREAM[0], &event]);
            assert_eq!(reply.unwrap_err().kind, kind, "{event}");
        }
    }
    let wordless = r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#;
    assert_eq!(decode(RESPONSES, &[wordless]).1.unwrap_err().kind, ErrorKind::Garbage);
}

#[test]
fn mismatched_events_are_garbage() {
    let message = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}"#;
    for events in [
        vec![message, message],
        vec![r#"{"type":"response.output_text.delta","output_index":7,"delta":"x"}"#],
        vec![message, r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"x"}"#],
        vec![STREAM[5], STREAM[4]],
    ] {
        assert_eq!(decode(RESPONSES, &events).1.unwrap_err().kind, ErrorKind::Garbage, "{events:?}");
    }
    check(
        RESPONSES,
        &[r#"{"type":"response.output_text.delta","output_index":7,"delta":"x"}"#],
        &expect![[r#"
            Garbage: the provider's response is not in its format: a delta outside its item in `{"type":"response.output_text.delta","output_index":7,"delta":"x"}`
        "#]],
    );
}

/// The start or the end of a reasoning item.
fn reasoning(event: &str) -> String {
    format!(r#"{{"type":"response.output_item.{event}","output_index":7,"item":{{"type":"reasoning","summary":[]}}}}"#)
}

#[test]
fn signs_of_life_are_not_content() {
    let mut decoder = for_kind(RESPONSES).decoder();
    let mut feed = |event: &str| decoder.feed(event, &mut |_| {}).unwrap();
    assert_eq!(feed(STREAM[0]), Progress::Quiet);
    assert_eq!(feed(STREAM[1]), Progress::Quiet);
    assert_eq!(
        feed(r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#),
        Progress::Quiet
    );
    for blank in ["", " ", r"\n"] {
        let delta = format!(r#"{{"type":"response.output_text.delta","output_index":0,"delta":"{blank}"}}"#);
        assert_eq!(feed(&delta), Progress::Quiet, "{blank:?}");
    }
    assert_eq!(feed(r#"{"type":"response.output_text.delta","output_index":0,"delta":"x"}"#), Progress::Content);
    assert_eq!(feed(STREAM[12]), Progress::Content, "a call has begun");
    let keep_alive = r#"{"type":"keepalive","sequence_number":3}"#;
    assert_eq!(feed(keep_alive), Progress::Quiet);
    assert_eq!(feed(&reasoning("added")), Progress::Content);
    for silent in [keep_alive, r#"{"type":"response.in_progress","response":{}}"#] {
        assert_eq!(feed(silent), Progress::Reasoning, "the model reasons, and shows nothing of it");
    }
    assert_eq!(feed(&reasoning("done")), Progress::Content);
    assert_eq!(feed(keep_alive), Progress::Quiet);
}

#[test]
fn absurd_accounting_counts_as_nothing() {
    for usage in ["null", "7", r#"{"input_tokens":-5,"output_tokens":1e300}"#, r#"{"input_tokens":"many"}"#] {
        let end = format!(r#"{{"type":"response.completed","response":{{"usage":{usage}}}}}"#);
        assert_eq!(decode(RESPONSES, &[&end]).1.unwrap().usage.total_tokens(), 0, "{usage}");
    }
}

#[test]
fn cached_input_above_the_input_is_counted_separately() {
    let more_cached_than_sent = r#"{"type":"response.completed","response":{"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}}}"#;
    let usage = decode(RESPONSES, &[more_cached_than_sent]).1.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens), (5, 9, 9));
}
