//! Opaque items of Gemini: data sent besides text and calls, to be returned unchanged; kept as [`Reasoning`].
//!
//! An item with a text is a whole part of the reply: a thought, or a signature that came with an empty text. An item
//! without one is the signature of the part after it, a text or a call.

use serde_json::{Map, Value};
use sortie_protocol::{Part, Reasoning};

use crate::model_data::wire_kind::GEMINI;

const TEXT: &str = "text";
const THOUGHT: &str = "thought";
const SIGNATURE: &str = "thoughtSignature";

/// An item, read back from the history.
pub(super) enum Item<'a> {
    Whole(&'a Value),
    SignatureOfNext(&'a str),
}

impl<'a> Item<'a> {
    /// Reads an item; `None` if another wire wrote it or its shape is unknown.
    pub(super) fn of(reasoning: &'a Reasoning) -> Option<Self> {
        if reasoning.wire != GEMINI {
            return None;
        }
        let item = &reasoning.item;
        if item.get(TEXT).is_some() {
            return Some(Self::Whole(item));
        }
        item.get(SIGNATURE).and_then(Value::as_str).map(Self::SignatureOfNext)
    }
}

/// Makes a thought, with its signature if it has one.
pub(super) fn thought(text: String, signature: Option<String>) -> Part {
    let mut item = whole(text, signature);
    item.insert(THOUGHT.to_owned(), true.into());
    reasoning(item)
}

/// Makes a signature that came without text or call.
pub(super) fn lone_signature(signature: String) -> Part {
    reasoning(whole(String::new(), Some(signature)))
}

/// Makes the signature of the part that follows.
pub(super) fn signature_of_next(signature: String) -> Part {
    reasoning(Map::from_iter([(SIGNATURE.to_owned(), signature.into())]))
}

/// Returns the text of a thought that may still grow: a signature covers the text before it and closes it.
pub(super) fn open_thought(part: &mut Part) -> Option<&mut String> {
    let Part::Reasoning(Reasoning { item: Value::Object(item), .. }) = part else { return None };
    if item.contains_key(SIGNATURE) {
        return None;
    }
    match item.get_mut(TEXT) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn whole(text: String, signature: Option<String>) -> Map<String, Value> {
    let mut item = Map::from_iter([(TEXT.to_owned(), text.into())]);
    if let Some(signature) = signature {
        item.insert(SIGNATURE.to_owned(), signature.into());
    }
    item
}

fn reasoning(item: Map<String, Value>) -> Part {
    Part::Reasoning(Reasoning { wire: GEMINI.to_owned(), item: Value::Object(item) })
}
