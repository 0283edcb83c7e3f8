//! Requests only grow: earlier parts are sent again unchanged, so that providers' prompt caches hit.

use sortie_llm::wire::for_kind;
use sortie_llm::{ModelRequest, WireKind};
use sortie_protocol::Message;

use crate::fixture::{elements, everything, request, route, tools};

const CACHE_MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// A wire's field names for tools, system and messages.
fn fields(wire: WireKind) -> [&'static str; 3] {
    match wire {
        // On OpenAI chat, the system prompt is the first message.
        WireKind::Anthropic | WireKind::OpenAiChat => ["tools", "system", "messages"],
        WireKind::Gemini => ["tools", "systemInstruction", "contents"],
        WireKind::OpenAiResponses => ["tools", "instructions", "input"],
    }
}

/// The elements of tools, system and messages as the bytes that were sent, cache marks removed.
fn unmarked(wire: WireKind, request: &ModelRequest<'_>) -> Vec<Vec<String>> {
    let mut elements = elements(&route(wire, "https://host.example"), request);
    let mut list = |key: &str| elements.remove(key).unwrap_or_default();
    fields(wire).map(|key| list(key).iter().map(|element| element.replace(CACHE_MARK, "")).collect()).into()
}

/// The histories at each model call of the task; each ends with the input for that call.
fn histories(messages: &[Message]) -> impl Iterator<Item = &[Message]> {
    (1..=messages.len())
        .map(|end| &messages[..end])
        .filter(|history| !matches!(history.last(), Some(Message::Assistant { .. })))
}

#[test]
fn every_element_stays_byte_equal_from_turn_to_turn() {
    let (tools, messages) = (tools(), everything());
    for wire in WireKind::ALL {
        let sent: Vec<_> = histories(&messages).map(|history| unmarked(wire, &request(&tools, history))).collect();
        assert_eq!(sent.len(), 6);
        for (before, after) in sent.iter().zip(&sent[1..]) {
            for (before, after) in before.iter().zip(after) {
                assert_eq!(before[..], after[..before.len()], "{wire}");
            }
            assert!(before[2].len() < after[2].len(), "{wire}: each turn adds messages");
        }
    }
}

#[test]
fn siblings_share_the_bytes_before_their_briefs() {
    let tools = tools();
    for wire in WireKind::ALL {
        let encode = |brief: &str| {
            let messages = [Message::user(brief)];
            let encoded =
                for_kind(wire).encode(&route(wire, "https://host.example"), &request(&tools, &messages)).unwrap();
            String::from_utf8(encoded.body.to_vec()).unwrap()
        };
        let (one, other) = (encode("AAA"), encode("BBB"));
        assert_eq!(one.split_once("AAA").unwrap().0, other.split_once("BBB").unwrap().0, "{wire}");
    }
}

#[test]
fn anthropic_caches_the_shared_prefix_the_last_request_and_this_one() {
    let (tools, messages) = (tools(), everything());
    let marked = |history: &[Message]| {
        let elements = elements(&route(WireKind::Anthropic, "https://host.example"), &request(&tools, history));
        let marks = |key: &str| -> Vec<usize> {
            (0..elements[key].len()).filter(|&index| elements[key][index].contains(CACHE_MARK)).collect()
        };
        (marks("tools"), marks("system"), marks("messages"))
    };
    assert_eq!(marked(&messages[..1]), (vec![], vec![0], vec![0]));
    assert_eq!(marked(&messages[..3]), (vec![], vec![0], vec![0, 2]));
    assert_eq!(marked(&messages[..5]), (vec![], vec![0], vec![2, 4]));
}
