//! What both strict checks need: looking at JSON without trusting it.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// The first field that is not among `known`.
pub(super) fn unknown_field<'a>(object: &'a Object, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|field| !known.contains(field))
}

/// Whether a tool's name has only letters, digits, `_` and `-`, and neither too few nor too many.
pub(super) fn is_tool_name(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len()) && is_identifier(name)
}

/// Whether a text has only letters, digits, `_` and `-`.
pub(super) fn is_identifier(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The first element that stands twice.
pub(super) fn repeated(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// The token after `Bearer`, whatever the case of that word.
pub(super) fn bearer(header: Option<&str>) -> Option<&str> {
    let (scheme, token) = header?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
