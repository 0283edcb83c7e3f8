//! Sending a reply back: every signature on the part that it came with.

use expect_test::{Expect, expect};
use sortie_protocol::{Message, Reply, ToolOutput};
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{EARLY, SIGNING, WIRE, google, to};
use crate::caller::{ONE_TRY, call, open};
use crate::decode::{decode, render};
use crate::fixture::{elements, everything, outputs, route, tools};

/// The reply of one event with these parts.
fn replied(parts: &str) -> Reply {
    let event = format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"STOP"}}]}}"#);
    decode(WIRE, &[&event]).1.unwrap()
}

/// The history after a reply, as it is stored and read again.
fn history(reply: &Reply) -> Vec<Message> {
    let stored = serde_json::to_string(&Message::Assistant { parts: reply.parts.clone() }).unwrap();
    let answers: Vec<_> = reply.calls().map(|call| (call.id.0.as_str(), ToolOutput::done("x", "x"))).collect();
    let mut messages = vec![Message::user("Where is it?"), serde_json::from_str(&stored).unwrap()];
    messages.push(if answers.is_empty() { Message::user("And?") } else { outputs(answers) });
    messages
}

/// Checks the reply, and the contents that send it and its outputs back.
fn check(parts: &str, expected: &Expect) {
    let reply = replied(parts);
    let messages = history(&reply);
    let sent = elements(&google(), &to(SIGNING, &[], &messages));
    expected.assert_eq(&format!("{}---\n{}\n{}\n", render(&reply), sent["contents"][1], sent["contents"][2]));
}

#[test]
fn the_signature_of_a_call_stays_with_its_call() {
    check(
        r#"{"functionCall":{"id":"a","name":"Read","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"b","name":"Grep","args":{}}},{"functionCall":{"id":"c","name":"LS","args":{}},"thoughtSignature":"ZW5k"}"#,
        &expect![[r#"
            reasoning gemini {"thoughtSignature":"c2ln"}
            call a Read {}
            call b Grep {}
            reasoning gemini {"thoughtSignature":"ZW5k"}
            call c LS {}
            Calls  [0 0 0 0]
            ---
            {"role":"model","parts":[{"functionCall":{"id":"a","name":"Read","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"b","name":"Grep","args":{}}},{"functionCall":{"id":"c","name":"LS","args":{}},"thoughtSignature":"ZW5k"}]}
            {"role":"user","parts":[{"functionResponse":{"id":"a","name":"Read","response":{"output":"x"}}},{"functionResponse":{"id":"b","name":"Grep","response":{"output":"x"}}},{"functionResponse":{"id":"c","name":"LS","response":{"output":"x"}}}]}
        "#]],
    );
}

#[test]
fn a_signed_text_is_a_part_of_its_own() {
    check(
        r#"{"text":"One. "},{"text":"Two. "},{"text":"Three.","thoughtSignature":"c2ln"},{"text":" Four."},{"text":"\n","thoughtSignature":"ZW5k"}"#,
        &expect![[r#"
            text "One. Two. "
            reasoning gemini {"thoughtSignature":"c2ln"}
            text "Three."
            text " Four."
            reasoning gemini {"thoughtSignature":"ZW5k"}
            text "\n"
            End  [0 0 0 0]
            ---
            {"role":"model","parts":[{"text":"One. Two. "},{"text":"Three.","thoughtSignature":"c2ln"},{"text":" Four."},{"text":"\n","thoughtSignature":"ZW5k"}]}
            {"role":"user","parts":[{"text":"And?"}]}
        "#]],
    );
}

#[test]
fn thoughts_and_signatures_without_text_go_back_unchanged() {
    check(
        r#"{"text":"Let me ","thought":true},{"text":"see.","thought":true},{"text":"Yes.","thought":true,"thoughtSignature":"dGhpbms="},{"text":"Well."},{"text":"","thoughtSignature":"ZW5k"}"#,
        &expect![[r#"
            reasoning gemini {"text":"Let me see.","thought":true}
            reasoning gemini {"text":"Yes.","thoughtSignature":"dGhpbms=","thought":true}
            text "Well."
            reasoning gemini {"text":"","thoughtSignature":"ZW5k"}
            End  [0 0 0 0]
            ---
            {"role":"model","parts":[{"text":"Let me see.","thought":true},{"text":"Yes.","thoughtSignature":"dGhpbms=","thought":true},{"text":"Well."},{"text":"","thoughtSignature":"ZW5k"}]}
            {"role":"user","parts":[{"text":"And?"}]}
        "#]],
    );
}

/// Two turns with a scripted model that signs its calls and accepts them only unchanged.
async fn two_turns(model: &str) -> (Reply, Vec<u8>) {
    let two = [
        reply::call("Read", serde_json::json!({ "path": "a.rs" })),
        reply::call("Grep", serde_json::json!({ "pattern": "size" })),
    ];
    let first = reply::reasoning("Both files are needed.").text("I read both of them now.").calls(two);
    let server = ScriptedServer::start(Script::in_order([first, reply::text("Done.")])).unwrap();
    let asked = open(route(WIRE, &server.base_url()), ONE_TRY);
    let tools = tools();
    let reply = call(asked.as_ref(), to(model, &tools, &[Message::user("Where is it?")])).await.1.unwrap();
    // Empty ids become unique in a history.
    let mut numbered = reply.clone();
    for (index, part) in numbered.parts.iter_mut().enumerate() {
        if let sortie_protocol::Part::Call(call) = part
            && call.id.0.is_empty()
        {
            call.id = format!("call_{index}").as_str().into();
        }
    }
    let second = call(asked.as_ref(), to(model, &tools, &history(&numbered))).await.1;
    assert_eq!(second.map(|reply| reply.text()), Ok("Done.".to_owned()));
    (reply, server.requests()[1].raw.clone())
}

#[tokio::test]
async fn a_signing_model_gets_its_calls_back_unchanged() {
    let (reply, sent) = two_turns(SIGNING).await;
    assert_eq!(reply.calls().map(|call| call.id.0.as_str()).collect::<Vec<_>>(), ["call_0_1", "call_0_2"]);
    let sent = String::from_utf8(sent).unwrap();
    assert_eq!(sent.matches("thoughtSignature").count(), 2, "one of the text, one of the first call: {sent}");
    assert!(!sent.contains("skip_thought_signature_validator"), "{sent}");
}

#[tokio::test]
async fn an_earlier_model_gets_neither_ids_nor_signatures() {
    let (reply, sent) = two_turns(EARLY).await;
    assert_eq!(reply.calls().map(|call| call.id.0.as_str()).collect::<Vec<_>>(), ["", ""]);
    let sent = String::from_utf8(sent).unwrap();
    assert!(!sent.contains("thoughtSignature") && !sent.contains(r#""id""#), "{sent}");
}

/// The scripted server rejects unsigned calls; calls of another wire carry a placeholder.
#[tokio::test]
async fn a_signing_model_accepts_a_history_of_other_wires() {
    let server = ScriptedServer::start(Script::always(reply::text("Fine."))).unwrap();
    let model = open(route(WIRE, &server.base_url()), ONE_TRY);
    let (tools, messages) = (tools(), everything());
    for end in 1..=messages.len() {
        if !matches!(messages[end - 1], Message::Assistant { .. }) {
            let reply = call(model.as_ref(), to(SIGNING, &tools, &messages[..end])).await.1;
            assert_eq!(reply.map(|reply| reply.text()), Ok("Fine.".to_owned()), "after {end} messages");
        }
    }
    let sent = elements(&google(), &to(SIGNING, &tools, &messages));
    expect![[r#"{"role":"model","parts":[{"text":"Hm. Größe?","thought":true},{"text":"Two looks."},{"functionCall":{"id":"call_1","name":"Read","args":{"path":"a.rs"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"call_2","name":"Grep","args":{"pattern": "size"}}}]}"#]].assert_eq(&sent["contents"][1]);
}
