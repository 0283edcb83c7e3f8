//! Normal replies, and histories sent back.

use serde_json::{Value, json};
use sortie_llm::{ErrorKind, ModelRequest, WireKind, estimate};
use sortie_protocol::{Message, Part, StopReason, ToolOutput, Usage};
use sortie_testkit::{Fault, Script, reply};

use crate::caller::{ONE_TRY, QUICK, call as call_once, caller};
use crate::fixture::{everything, outputs, request, tools};

pub(super) async fn parallel_calls_arrive_whole_and_in_order(wire: WireKind) {
    let two = [reply::call("Read", json!({ "path": "größe.rs" })), reply::call("Grep", json!({ "pattern": "size" }))];
    let caller = caller(wire, Script::always(reply::text("Two looks.").calls(two)), ONE_TRY);
    let (observed, reply) = caller.ask().await;
    let reply = reply.unwrap();
    assert_eq!(observed.calls, ["Read", "Grep"]);
    assert_eq!((observed.text.as_str(), reply.text().as_str()), ("Two looks.", "Two looks."));
    assert_eq!(reply.stop, StopReason::Calls);
    let calls: Vec<_> = reply.calls().collect();
    assert_eq!(calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["Read", "Grep"]);
    let has_ids = calls.iter().any(|call| !call.id.0.is_empty());
    assert!(calls[0].id != calls[1].id || !has_ids, "one id for two calls: {calls:?}");
    let arguments: Vec<Value> = calls.iter().map(|call| serde_json::from_str(&call.arguments).unwrap()).collect();
    assert_eq!(arguments, [json!({ "path": "größe.rs" }), json!({ "pattern": "size" })]);
}

pub(super) async fn text_survives_being_cut_inside_its_characters(wire: WireKind) {
    let text = "Grüße 🦀, 世界, e\u{301}, \u{1f468}\u{200d}\u{1f4bb}";
    for chunk in [1, 2, 3, 7] {
        let caller = caller(wire, Script::always(reply::text(text).in_chunks_of(chunk)), ONE_TRY);
        let (observed, reply) = caller.ask().await;
        assert_eq!((observed.text.as_str(), reply.unwrap().text().as_str()), (text, text), "chunks of {chunk}");
    }
}

/// The scripted server rejects what the providers reject.
pub(super) async fn a_history_with_everything_in_it_is_accepted(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::text("Fine.")), ONE_TRY);
    let messages = everything();
    for end in 1..=messages.len() {
        if !matches!(messages[end - 1], Message::Assistant { .. }) {
            let (_, reply) = caller.go_on(&messages[..end]).await;
            assert_eq!(reply.map(|reply| reply.text()), Ok("Fine.".to_owned()), "after {end} messages");
        }
    }
}

pub(super) async fn reasoning_is_replayed_byte_for_byte(wire: WireKind) {
    let thought = "First \"this\",\n\tthen \\that\\ – größer 🦀";
    let first = reply::reasoning(thought).calls([reply::call("Read", json!({ "path": "a.rs" }))]);
    let caller = caller(wire, Script::in_order([first, reply::text("Done.")]), ONE_TRY);
    let (observed, reply) = caller.ask().await;
    let reply = reply.unwrap();
    assert_eq!(observed.reasoning, thought);
    let Some(Part::Reasoning(reasoning)) = reply.parts.first() else { panic!("no reasoning in {reply:?}") };
    assert_eq!(reasoning.wire, wire.to_string());

    // The history is stored between the turns.
    let stored = serde_json::to_string(&reply.parts).unwrap();
    let id = reply.calls().next().unwrap().id.0.clone();
    let history = [
        Message::user("Where is it?"),
        Message::Assistant { parts: serde_json::from_str(&stored).unwrap() },
        outputs(vec![(&id, ToolOutput::done("1\tfn a() {}", "1 line"))]),
    ];
    caller.go_on(&history).await.1.unwrap();
    let sent = String::from_utf8(caller.server.requests()[1].raw.clone()).unwrap();
    let item = reasoning.item.to_string();
    let fields = item.trim_start_matches('{').trim_end_matches('}');
    assert!(sent.contains(fields), "{fields} is not in {sent}");
    assert!(fields.contains(&serde_json::to_string(thought).unwrap()), "{fields}");
}

pub(super) async fn an_empty_answer_is_an_answer(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::fault(Fault::Empty)), ONE_TRY);
    let reply = caller.ask().await.1.unwrap();
    assert_eq!((reply.parts.len(), reply.stop), (0, StopReason::End));
}

pub(super) async fn truncated_arguments_are_kept_with_their_reason(wire: WireKind) {
    let call = reply::call("Read", json!({ "path": "a/rather/long/path/to/a/file.rs" }));
    let caller = caller(wire, Script::always(reply::calls([call]).fault(Fault::TruncatedArguments)), ONE_TRY);
    let reply = caller.ask().await.1.unwrap();
    assert_eq!(reply.stop, StopReason::Length);
    let arguments: Vec<&str> = reply.calls().map(|call| call.arguments.as_str()).collect();
    match (wire, arguments.as_slice()) {
        // Calls arrive whole on this wire, or not at all.
        (WireKind::Gemini, []) => {}
        (WireKind::Gemini, kept) | (_, kept @ ([] | [_, _, ..])) => panic!("{wire} gave out {kept:?}"),
        (_, [arguments]) => {
            assert!(serde_json::from_str::<Value>(arguments).is_err(), "{arguments} should be cut");
            assert!(arguments.starts_with('{'), "{arguments}");
        }
    }
}

pub(super) async fn a_cut_reply_is_marked_though_its_calls_parse(wire: WireKind) {
    let call = || reply::call("Write", json!({ "content": "half" }));
    let said_so = reply::calls([call()]).stop(StopReason::Length);
    // This server completes the calls, and reports them as the ending.
    let at_cap = |tokens| reply::calls([call()]).usage(Usage { output_tokens: tokens, ..Usage::default() });
    for (script, stop) in
        [(said_so, StopReason::Length), (at_cap(50), StopReason::Length), (at_cap(49), StopReason::Calls)]
    {
        let caller = caller(wire, Script::always(script), ONE_TRY);
        let (tools, messages) = (tools(), [Message::user("Where is it?")]);
        let request = ModelRequest { max_output: Some(50), ..request(&tools, &messages) };
        let reply = call_once(caller.model.as_ref(), request).await.1.unwrap();
        assert_eq!((reply.stop, reply.calls().count()), (stop, 1), "{wire}");
    }
}

pub(super) async fn a_reply_of_thousands_of_calls_is_refused_while_it_arrives(wire: WireKind) {
    let calls = |number: usize| (0..number).map(|_| reply::call("Read", json!({ "path": "a.rs" })));
    let most = caller(wire, Script::always(reply::calls(calls(1024))), ONE_TRY);
    assert_eq!(most.ask().await.1.unwrap().calls().count(), 1024);
    let more = caller(wire, Script::always(reply::calls(calls(1025))), QUICK);
    let (observed, result) = more.ask().await;
    let error = result.unwrap_err();
    assert_eq!((error.kind, observed.retries.len()), (ErrorKind::TooLarge, 0));
    assert!(error.message.contains("more than 1024 calls; none of them was run"), "{}", error.message);
}

pub(super) async fn usage_and_the_answering_model_are_reported(wire: WireKind) {
    let usage = Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 30, ..Usage::default() };
    let caller = caller(wire, Script::always(reply::text("Hi.").usage(usage)), ONE_TRY);
    let reply = caller.ask().await.1.unwrap();
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.model, "some-model");
}

pub(super) async fn unreported_usage_is_estimated_from_sizes(wire: WireKind) {
    let calls = [reply::call("Read", json!({ "path": "a.rs" }))];
    let uncounted = reply::text("Twelve bytes").calls(calls).usage(Usage::default());
    let caller = caller(wire, Script::always(uncounted), ONE_TRY);
    let reply = caller.ask().await.1.unwrap();
    let (usage, sent) = (reply.usage, caller.server.requests()[0].raw.len());
    // A small request is mostly the wire's own overhead, which counts as few tokens.
    let input = estimate::tokens(sent);
    assert!((input / 2..=input).contains(&usage.input_tokens), "{} of {input}", usage.input_tokens);
    assert_eq!(usage.output_tokens, estimate::tokens(12 + 4 + 15));
    assert_eq!(usage.total_tokens(), usage.input_tokens + usage.output_tokens);
    assert!(reply.usage_doubted);
}

pub(super) async fn usage_that_looks_too_high_counts_and_is_marked(wire: WireKind) {
    let absurd = Usage { input_tokens: 900_000_000, output_tokens: 5, ..Usage::default() };
    let script = Script::in_order([reply::text("Hi.").usage(absurd), reply::text("Hi.")]);
    let caller = caller(wire, script, ONE_TRY);
    let reply = caller.ask().await.1.unwrap();
    assert_eq!((reply.usage, reply.usage_doubted, reply.usage_high), (absurd, false, true));
    let next = caller.ask().await.1.unwrap();
    assert!(!next.usage_doubted && !next.usage_high, "what is believable is believed");
}

pub(super) async fn one_connection_serves_many_calls(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::text("Hi.")), ONE_TRY);
    for _ in 0..5 {
        caller.ask().await.1.unwrap();
    }
    let connections: Vec<u64> = caller.server.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [1; 5]);
}
