//! Replay of a stored history in a form that strict providers accept.
//!
//! The rules look at each element alone, so an element has the same bytes in every request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sortie_protocol::{CallOutput, Part};

use super::is_blank;

/// Longest tool name that all providers accept.
const MAX_NAME: usize = 64;

/// Length of the prefix that keeps a replaced id readable.
const ID_PREFIX: usize = 23;

/// Returns a tool name as providers allow it: letters, digits, `_` and `-`.
///
/// Models call tools that do not exist, by names that providers reject in a history.
pub(super) fn portable_name(name: &str) -> Cow<'_, str> {
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= MAX_NAME && is_identifier(name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(identifier(name, MAX_NAME))
}

/// Returns a call's id: unchanged if the provider accepts it, else replaced by at most 40 letters, digits, `_` and `-`.
/// Distinct ids stay distinct, and an id is always replaced in the same way.
pub(super) fn portable_id(id: &str, accepts: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if !id.is_empty() && accepts(id) {
        return Cow::Borrowed(id);
    }
    // FNV-1a: stable between releases, which an id in a cached prefix must be.
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    Cow::Owned(format!("{}_{hash:016x}", identifier(id, ID_PREFIX)))
}

/// True if a text has only characters that every provider accepts in a name or an id.
pub(super) fn is_identifier(text: &str) -> bool {
    text.chars().all(is_allowed)
}

fn identifier(text: &str, longest: usize) -> String {
    text.chars().take(longest).map(|c| if is_allowed(c) { c } else { '_' }).collect()
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Arguments as a JSON object, the only form that providers accept back.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ArgumentsObject<'a> {
    /// The model's own text.
    Written(&'a RawValue),
    Empty {},
    /// An object around arguments that are not an object.
    Malformed {
        malformed_arguments: &'a str,
    },
}

impl<'a> ArgumentsObject<'a> {
    pub(super) fn of(arguments: &'a str) -> Self {
        if is_blank(arguments) {
            return Self::Empty {};
        }
        match serde_json::from_str::<&RawValue>(arguments) {
            Ok(written) if written.get().starts_with('{') && is_plain(written.get()) => Self::Written(written),
            _ => Self::Malformed { malformed_arguments: arguments },
        }
    }

    /// Returns the object as text, for wires that carry it inside a string.
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

/// True if no string has an unpaired surrogate and nothing is nested too deeply for readers; providers reject both.
/// Parsing the arguments as raw text notices neither, so only texts with an escape or many brackets are checked.
fn is_plain(written: &str) -> bool {
    const USUAL_DEPTH: usize = 100;
    let n_brackets = written.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    (!written.contains(r"\u") && n_brackets <= USUAL_DEPTH) || serde_json::from_str::<Value>(written).is_ok()
}

/// Returns a tool's output as text that is never empty, because providers reject empty text.
pub(super) fn output_text(output: &CallOutput) -> &str {
    let text = output.output.for_model.as_str();
    if is_blank(text) { "(no output)" } else { text }
}

/// True if a reply has text or calls. A reply of reasoning alone is rejected by providers.
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
    fn too_deeply_nested_arguments_go_back_as_text() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(ArgumentsObject::of(&nested(120)).text(), nested(120));
        let deep = nested(100_000);
        assert!(ArgumentsObject::of(&deep).text().starts_with("{\"malformed_arguments\":\"{"));
        let wide = format!("{{\"a\":[{}]}}", vec!["{}"; 1000].join(","));
        assert_eq!(ArgumentsObject::of(&wide).text(), wide, "many are not deep");
    }

    #[test]
    fn names_that_providers_accept_are_kept() {
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
    fn ids_are_replaced_only_if_necessary_and_stay_distinct() {
        let long = "call_".repeat(20);
        assert_eq!(portable_id(&long, |_| true), long);
        let ids = ["a.b", "a_b", "a:b", "", &long, &format!("{long}1"), &format!("{long}2")];
        let replaced = ids.map(|id| portable_id(id, |_| false).into_owned());
        assert_eq!(replaced[0], "a_b_e61d99190466522c");
        for (index, id) in replaced.iter().enumerate() {
            assert!(id.len() <= 40 && is_identifier(id), "{id}");
            assert!(!replaced[..index].contains(id), "{id} is used for two");
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
            (r#"{"pair":"\ud83e\udd80"}"#, r#"{"pair":"\ud83e\udd80"}"#),
            (r#"{"lone":"\ud800"}"#, r#"{"malformed_arguments":"{\"lone\":\"\\ud800\"}"}"#),
        ] {
            let object = ArgumentsObject::of(arguments);
            assert_eq!(object.text(), expected, "{arguments}");
            assert_eq!(serde_json::to_string(&object).unwrap(), expected, "{arguments}");
        }
    }
}
