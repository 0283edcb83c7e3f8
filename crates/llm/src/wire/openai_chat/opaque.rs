//! Opaque items of chat servers: data sent besides text and calls, to be returned unchanged.
//!
//! The items are kept as [`Reasoning`]: an item's fields are those of the assistant message, with two exceptions.
//! [`CONTENT`] holds items that precede the message's text, and [`CALL`] holds fields of the call that follows the
//! item.

use serde_json::{Map, Value};
use sortie_protocol::{Part, Reasoning};

use crate::model_data::wire_kind::OPENAI_CHAT;

/// Field whose items share the message's content with its text.
pub(super) const CONTENT: &str = "content";
/// Field whose own fields belong to the next call, e.g. the signature without which a server rejects its own call.
pub(super) const CALL: &str = "tool_call";

/// Fields that arrive in pieces; all others arrive whole.
const GROWING: [&str; 5] = ["reasoning_content", "reasoning", "text", "summary", "thinking"];
/// Fields that close an item: a signature covers all text before it, encrypted content is never split.
const CLOSING: [&str; 2] = ["signature", "data"];

/// Makes a message's item for the history; `None` if it would be empty.
pub(super) fn of_message(fields: Map<String, Value>) -> Option<Part> {
    (!fields.is_empty())
        .then(|| Part::Reasoning(Reasoning { wire: OPENAI_CHAT.to_owned(), item: Value::Object(fields) }))
}

/// Makes the item for the call that follows it; `None` if it would be empty.
pub(super) fn of_call(fields: Map<String, Value>) -> Option<Part> {
    if fields.is_empty() { None } else { of_message(Map::from_iter([(CALL.to_owned(), Value::Object(fields))])) }
}

/// Appends a piece to a field.
pub(super) fn append(fields: &mut Map<String, Value>, key: &str, piece: Value) {
    match (fields.get_mut(key), piece) {
        (_, Value::Null) => {}
        (Some(Value::String(text)), Value::String(more)) if GROWING.contains(&key) => text.push_str(&more),
        (Some(Value::Array(items)), Value::Array(pieces)) => gather(items, pieces),
        (_, Value::Array(pieces)) => {
            let mut items = Vec::new();
            gather(&mut items, pieces);
            fields.insert(key.to_owned(), Value::Array(items));
        }
        (_, whole) => {
            fields.insert(key.to_owned(), whole);
        }
    }
}

/// Appends each piece to the item that it continues, or adds it as a new item.
fn gather(items: &mut Vec<Value>, pieces: Vec<Value>) {
    for piece in pieces {
        let open = items.iter_mut().rev().find(|item| continues(item, &piece));
        match (open, piece) {
            (Some(Value::Object(item)), Value::Object(piece)) => {
                for (key, value) in piece {
                    append(item, &key, value);
                }
            }
            (_, piece) => items.push(piece),
        }
    }
}

fn continues(item: &Value, piece: &Value) -> bool {
    let same = |key: &str| item.get(key) == piece.get(key);
    let is_closed =
        CLOSING.iter().any(|key| item.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
    same("type") && same("index") && !is_closed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gathered(pieces: &Value) -> Value {
        let mut fields = Map::new();
        for piece in pieces.as_array().unwrap() {
            append(&mut fields, "reasoning_details", json!([piece]));
        }
        fields.remove("reasoning_details").unwrap()
    }

    #[test]
    fn a_signed_block_is_complete_whenever_its_signature_arrives() {
        let pieces = json!([
            { "type": "reasoning.text", "index": 0, "text": "Let", "signature": null },
            { "type": "reasoning.text", "index": 1, "text": "Then" },
            { "type": "reasoning.text", "index": 0, "text": " me see." },
            { "type": "reasoning.text", "index": 0, "signature": "c2ln", "format": "anthropic-claude-v1" },
        ]);
        let whole = json!([
            { "type": "reasoning.text", "index": 0, "text": "Let me see.", "signature": "c2ln",
              "format": "anthropic-claude-v1" },
            { "type": "reasoning.text", "index": 1, "text": "Then" },
        ]);
        assert_eq!(gathered(&pieces), whole);
    }

    #[test]
    fn signatures_separate_unnumbered_blocks_and_encrypted_ones_never_grow() {
        let pieces = json!([
            { "type": "reasoning.text", "text": "One", "signature": "MQ" },
            { "type": "reasoning.text", "text": "Two" },
            { "type": "reasoning.text", "signature": "Mg" },
            { "type": "reasoning.encrypted", "data": "YQ" },
            { "type": "reasoning.encrypted", "data": "Yg" },
            "no object",
            "nor this",
        ]);
        let whole = json!([
            { "type": "reasoning.text", "text": "One", "signature": "MQ" },
            { "type": "reasoning.text", "text": "Two", "signature": "Mg" },
            { "type": "reasoning.encrypted", "data": "YQ" },
            { "type": "reasoning.encrypted", "data": "Yg" },
            "no object",
            "nor this",
        ]);
        assert_eq!(gathered(&pieces), whole);
    }
}
