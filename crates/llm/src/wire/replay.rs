//! What every wire does to a stored history so that a strict provider takes it back.
//!
//! The rules look at one element alone, so an element encodes to the same bytes in every request that holds it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sortie_protocol::{CallOutput, Part};

use super::is_blank;

/// The longest id or tool name that all providers take.
const MAX_NAME: usize = 64;

/// An id or tool name as providers allow it: letters, digits, `_` and `-`.
///
/// Models call tools that do not exist, by names that no provider takes back.
pub(super) fn portable_name(name: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= MAX_NAME && name.chars().all(allowed) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(MAX_NAME).map(|c| if allowed(c) { c } else { '_' }).collect())
}

/// Arguments as a JSON object, which is all that providers take back.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ArgumentsObject<'a> {
    /// The model's own text.
    Written(&'a RawValue),
    Empty {},
    /// What the model wrote is no object: one that carries it.
    Malformed {
        malformed_arguments: &'a str,
    },
}

impl<'a> ArgumentsObject<'a> {
    pub(super) fn of(arguments: &'a str) -> Self {
        if is_blank(arguments) {
            return Self::Empty {};
        }
        let is_object = serde_json::from_str::<Map<String, Value>>(arguments).is_ok();
        match serde_json::from_str(arguments) {
            Ok(written) if is_object => Self::Written(written),
            _ => Self::Malformed { malformed_arguments: arguments },
        }
    }

    /// The object as text, for wires that carry it inside a string.
    pub(super) fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Written(written) => Cow::Borrowed(written.get()),
            Self::Empty {} => Cow::Borrowed("{}"),
            Self::Malformed { malformed_arguments: text } => {
                Cow::Owned(json!({ "malformed_arguments": text }).to_string())
            }
        }
    }
}

/// A tool's output as text that is never empty, which providers refuse.
pub(super) fn output_text(output: &CallOutput) -> &str {
    let text = output.output.for_model.as_str();
    if is_blank(text) { "(no output)" } else { text }
}

/// Whether a reply says or asks anything. One that only reasoned cannot be sent back: providers refuse it.
pub(super) fn is_sendable(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Text { text } => !is_blank(text),
        Part::Call(_) => true,
        Part::Reasoning(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_where_providers_take_them() {
        let long = "x".repeat(70);
        for (name, expected) in [
            ("toolu_01-Ab", "toolu_01-Ab"),
            ("functions.Read:0", "functions_Read_0"),
            ("größe", "gr__e"),
            ("", "unnamed"),
            (long.as_str(), &long[..64]),
        ] {
            assert_eq!(portable_name(name), expected);
        }
    }

    #[test]
    fn arguments_are_an_object_whatever_the_model_wrote() {
        for (arguments, expected) in [
            (r#"{"b":1, "a":2}"#, r#"{"b":1, "a":2}"#),
            (" {}\n", "{}"),
            ("", "{}"),
            (r#"{"path": "src"#, r#"{"malformed_arguments":"{\"path\": \"src"}"#),
            ("[1]", r#"{"malformed_arguments":"[1]"}"#),
            (r#"{"lone":"\ud800"}"#, r#"{"malformed_arguments":"{\"lone\":\"\\ud800\"}"}"#),
        ] {
            let object = ArgumentsObject::of(arguments);
            assert_eq!(object.text(), expected, "{arguments}");
            assert_eq!(serde_json::to_string(&object).unwrap(), expected, "{arguments}");
        }
    }
}
