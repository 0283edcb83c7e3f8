//! Opaque items of compatible servers: each goes back to where it came from.

use expect_test::{Expect, expect};
use serde_json::Value;
use sortie_llm::WireKind;
use sortie_protocol::{Message, Reply, ToolOutput};
use sortie_testkit::{Script, reply};

use crate::caller::{ONE_TRY, caller};
use crate::decode::{CHAT, decode, render};
use crate::fixture::{elements, outputs, request, route};

/// The reply decoded from a stream of deltas.
fn replied(deltas: &[&str]) -> (String, Reply) {
    let mut events: Vec<String> =
        deltas.iter().map(|delta| format!(r#"{{"model":"m","choices":[{{"delta":{delta}}}]}}"#)).collect();
    events.push(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned());
    let (seen, reply) = decode(CHAT, &events.iter().map(String::as_str).collect::<Vec<_>>());
    (seen, reply.unwrap())
}

/// The history after a reply, as it is stored and read again.
fn history(reply: &Reply) -> Vec<Message> {
    let stored = serde_json::to_string(&Message::Assistant { parts: reply.parts.clone() }).unwrap();
    let answers: Vec<_> = reply.calls().map(|call| (call.id.0.as_str(), ToolOutput::done("x", "x"))).collect();
    let mut messages = vec![Message::user("Where is it?"), serde_json::from_str(&stored).unwrap()];
    messages.push(if answers.is_empty() { Message::user("And?") } else { outputs(answers) });
    messages
}

/// Checks the events, the reply, and the message that sends it back; the scripted server must accept it.
async fn check(deltas: &[&str], expected: &Expect) {
    let (seen, answer) = replied(deltas);
    let messages = history(&answer);
    let sent = elements(&route(CHAT, "https://host.example"), &request(&[], &messages));
    expected.assert_eq(&format!("{seen}---\n{}---\n{}\n", render(&answer), sent["messages"][2]));
    let strict = caller(CHAT, Script::always(reply::text("Fine.")), ONE_TRY);
    assert_eq!(strict.go_on(&messages).await.1.unwrap().text(), "Fine.");

    let to_openai = elements(&route(CHAT, "https://api.openai.com"), &request(&[], &messages));
    let message: Value = serde_json::from_str(&to_openai["messages"][2]).unwrap();
    let foreign =
        ["reasoning", "thinking", "extra_content"].into_iter().find(|field| message.to_string().contains(field));
    assert_eq!(foreign, None, "OpenAI itself refuses unknown fields");
}

#[tokio::test]
async fn the_signature_of_a_call_stays_with_its_call() {
    check(
        &[
            r#"{"tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}},"other":null}]}"#,
            r#"{"tool_calls":[{"id":"b","type":"function","function":{"name":"Grep","arguments":"{}"}}]}"#,
            r#"{"tool_calls":[{"id":"c","type":"function","function":{"name":"LS","arguments":"{}"},"extra_content":{"google":{"thought_signature":"ZW5k"}}}]}"#,
        ],
        &expect![[r#"
            call Read
            call Grep
            call LS
            ---
            reasoning openai-chat {"tool_call":{"extra_content":{"google":{"thought_signature":"c2ln"}}}}
            call a Read {}
            call b Grep {}
            reasoning openai-chat {"tool_call":{"extra_content":{"google":{"thought_signature":"ZW5k"}}}}
            call c LS {}
            Calls m [0 0 0 0]
            ---
            {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},{"id":"b","type":"function","function":{"name":"Grep","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"LS","arguments":"{}"},"extra_content":{"google":{"thought_signature":"ZW5k"}}}]}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn reasoning_details_go_back_as_whole_blocks() {
    check(
        &[
            r#"{"reasoning":"Let me ","reasoning_details":[{"type":"reasoning.text","text":"Let me ","index":0,"signature":null}]}"#,
            r#"{"reasoning":"see.","reasoning_details":[{"type":"reasoning.text","text":"see.","index":0}]}"#,
            r#"{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0},{"type":"reasoning.encrypted","data":"eA","id":"r1","index":1}]}"#,
            r#"{"content":"Looking.","reasoning":null,"reasoning_details":[]}"#,
        ],
        &expect![[r#"
            reasoning "Let me "
            reasoning "see."
            text "Looking."
            ---
            reasoning openai-chat {"reasoning":"Let me see.","reasoning_details":[{"type":"reasoning.text","text":"Let me see.","index":0,"signature":"c2ln"},{"type":"reasoning.encrypted","data":"eA","id":"r1","index":1}]}
            text "Looking."
            End m [0 0 0 0]
            ---
            {"role":"assistant","content":"Looking.","reasoning":"Let me see.","reasoning_details":[{"type":"reasoning.text","text":"Let me see.","index":0,"signature":"c2ln"},{"type":"reasoning.encrypted","data":"eA","id":"r1","index":1}]}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn thinking_sent_as_content_goes_back_as_content() {
    check(
        &[
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Let me "}]}]}"#,
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"see."}],"closed":true},{"type":"text","text":"Look"}]}"#,
            r#"{"content":[{"type":"reference","reference_ids":[1]}]}"#,
            r#"{"content":"ing."}"#,
        ],
        &expect![[r#"
            reasoning "Let me "
            reasoning "see."
            text "Look"
            text "ing."
            ---
            reasoning openai-chat {"content":[{"type":"thinking","thinking":[{"type":"text","text":"Let me see."}],"closed":true}]}
            text "Looking."
            End m [0 0 0 0]
            ---
            {"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Let me see."}],"closed":true},{"type":"text","text":"Looking."}]}
        "#]],
    )
    .await;
}

#[test]
fn opaque_items_of_one_wire_do_not_reach_the_other() {
    let (_, answer) = replied(&[
        r#"{"reasoning":"Hm.","tool_calls":[{"id":"a","function":{"name":"Read","arguments":"{}"},"extra_content":{"x":1}}]}"#,
    ]);
    let messages = history(&answer);
    let sent = elements(&route(WireKind::Anthropic, "https://host.example"), &request(&[], &messages));
    assert_eq!(
        sent["messages"][1],
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{}}]}"#
    );
}
