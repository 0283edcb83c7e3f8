//! What all strict checks need: looking at JSON without trusting it.

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

/// Whether a schema says of itself or of a property that it is `required`, where newer drafts have a list of names.
pub(super) fn is_of_old_draft(schema: &Value) -> bool {
    let properties = schema["properties"].as_object().into_iter().flat_map(Map::values);
    schema.get("required").is_some_and(|required| !required.is_array()) || properties.into_iter().any(is_of_old_draft)
}

/// Whether a text is standard base64 with its padding.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    text.len().is_multiple_of(4) && text.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
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

/// The seal that belongs to a piece of reasoning: replayed reasoning must bring it unchanged.
pub(super) fn signature(reasoning: &str) -> String {
    // FNV-1a: enough to notice that the text or the seal was touched.
    let hash = reasoning
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("c2lnbmVk{hash:016x}")
}
