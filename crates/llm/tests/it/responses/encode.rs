//! Sending replies back, item by item.

use expect_test::{Expect, expect};
use serde_json::Value;
use sortie_llm::{ModelRequest, Route};
use sortie_protocol::{Message, Part, Reasoning, ToolOutput};
use sortie_testkit::{Script, reply};

use super::{RESPONSES, STREAM};
use crate::caller::{ONE_TRY, call as ask, caller, open};
use crate::decode::decode;
use crate::fixture::{call, elements, outputs, reply as replied, request, route, text, thinking, tools};

/// The items sent for a reply and the output after it.
fn items(model: &str, parts: Vec<Part>) -> Vec<String> {
    let answers: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some((call.id.0.clone(), ToolOutput::done("x", "x"))),
            Part::Text { .. } | Part::Reasoning(_) => None,
        })
        .collect();
    let mut messages = vec![Message::user("Where is it?"), replied(parts)];
    if !answers.is_empty() {
        messages.push(outputs(answers.iter().map(|(id, output)| (id.as_str(), output.clone())).collect()));
    }
    let request = ModelRequest { model, ..request(&[], &messages) };
    elements(&route(RESPONSES, "https://host.example"), &request)["input"].clone()
}

fn check_items(parts: Vec<Part>, expected: &Expect) {
    expected.assert_eq(&(items("gpt-5", parts).join("\n") + "\n"));
}

fn opaque(item: &str) -> Part {
    Part::Reasoning(Reasoning { wire: RESPONSES.to_string(), item: serde_json::from_str(item).unwrap() })
}

#[test]
fn a_reply_goes_back_item_by_item_as_it_came() {
    let reply = decode(RESPONSES, &STREAM).1.unwrap();
    let stored = serde_json::to_string(&reply.parts).unwrap();
    check_items(
        serde_json::from_str(&stored).unwrap(),
        &expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Where is it?"}]}
            {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Let me see."}],"encrypted_content":"c2VhbGVk"}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking."}],"phase":"commentary"}
            {"type":"function_call","call_id":"call_a","name":"Read","arguments":"{\"path\": \"a\"}"}
            {"type":"function_call","call_id":"call_b","name":"LS","arguments":"{}"}
            {"type":"function_call_output","call_id":"call_a","output":"x"}
            {"type":"function_call_output","call_id":"call_b","output":"x"}
        "#]],
    );
}

#[test]
fn trailing_or_empty_reasoning_is_not_sent_back() {
    check_items(
        vec![text("Well."), thinking(RESPONSES)],
        &expect![[r#"
        {"type":"message","role":"user","content":[{"type":"input_text","text":"Where is it?"}]}
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Well."}]}
    "#]],
    );
    check_items(
        vec![opaque(r#"{"type":"reasoning","id":"rs_2","summary":[]}"#), text("Well.")],
        &expect![[r#"
        {"type":"message","role":"user","content":[{"type":"input_text","text":"Where is it?"}]}
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Well."}]}
    "#]],
    );
    let open = r#"{"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}"#;
    check_items(
        vec![opaque(open), text(" "), call("c", "Read", "{}")],
        &expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Where is it?"}]}
            {"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}
            {"type":"function_call","call_id":"c","name":"Read","arguments":"{}"}
            {"type":"function_call_output","call_id":"c","output":"x"}
        "#]],
    );
}

#[test]
fn extra_fields_of_one_message_do_not_move_to_another() {
    check_items(
        vec![opaque(r#"{"message":{"phase":"commentary"}}"#), text(" "), text("Well.")],
        &expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Where is it?"}]}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Well."}]}
        "#]],
    );
}

#[test]
fn sealed_reasoning_is_requested_only_from_reasoning_models() {
    let messages = [Message::user("Where is it?")];
    for (model, asked) in [
        ("gpt-5.1", true),
        ("o4-mini", true),
        ("openai/gpt-5-codex", true),
        ("gpt-4.1", false),
        ("gpt-5-chat-latest", false),
        ("some-model", false),
    ] {
        let sent =
            elements(&route(RESPONSES, "https://api.openai.com"), &ModelRequest { model, ..request(&[], &messages) });
        assert_eq!(sent.contains_key("include"), asked, "{model}");
        assert_eq!(
            (sent["store"].as_slice(), sent["stream"].as_slice()),
            (&["false".to_owned()][..], &["true".to_owned()][..])
        );
    }
}

/// The scripted server rejects what OpenAI rejects, for reasoning models and for others.
#[tokio::test]
async fn all_models_accept_a_history_with_reasoning() {
    for model in ["gpt-5", "o3", "gpt-4o", "gpt-5-chat-latest", "some-model"] {
        let server = caller(RESPONSES, Script::always(reply::text("Fine.")), ONE_TRY).server;
        let served = open(Route { model: model.to_owned(), ..route(RESPONSES, &server.base_url()) }, ONE_TRY);
        let messages =
            [Message::user("Where is it?"), replied(vec![thinking(RESPONSES), text("Here.")]), Message::user("And?")];
        let tools = tools();
        let answer = ask(served.as_ref(), ModelRequest { model, ..request(&tools, &messages) }).await.1;
        assert_eq!(answer.map(|answer| answer.text()), Ok("Fine.".to_owned()), "{model}");
    }
    let with = |model| items(model, vec![thinking(RESPONSES), text("Here.")]).len();
    assert_eq!((with("gpt-5"), with("gpt-4o"), with("some-model")), (3, 2, 3));
}

#[test]
fn too_long_ids_are_shortened_alike_in_call_and_output() {
    let long = "chatcmpl-tool-".repeat(5);
    let items = items("some-model", vec![call(&long, "Read", "{}"), call("short", "Read", "{}")]);
    let ids: Vec<String> = items
        .iter()
        .filter_map(|item| serde_json::from_str::<Value>(item).unwrap()["call_id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!((&ids[0], &ids[1], ids[1].as_str()), (&ids[2], &ids[3], "short"));
    assert!(ids[0].len() <= 64 && ids[0].starts_with("chatcmpl-tool-"), "{ids:?}");
}
