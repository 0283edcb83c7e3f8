//! Helpers of all strict checks: inspection of untrusted JSON.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// Returns the first field that is not in `known`.
pub(super) fn unknown_field<'a>(object: &'a Object, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|field| !known.contains(field))
}

/// True if a tool's name has only letters, digits, `_` and `-`, and a permitted length.
pub(super) fn is_tool_name(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len()) && is_identifier(name)
}

/// True if a text has only letters, digits, `_` and `-`.
pub(super) fn is_identifier(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// True if a schema marks itself or a property as `required`, where newer drafts have a list of names.
pub(super) fn is_of_old_draft(schema: &Value) -> bool {
    let properties = schema["properties"].as_object().into_iter().flat_map(Map::values);
    schema.get("required").is_some_and(|required| !required.is_array()) || properties.into_iter().any(is_of_old_draft)
}

/// True if a text is standard base64 with its padding.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    text.len().is_multiple_of(4) && text.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}

/// Returns the first duplicate.
pub(super) fn repeated(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Returns the token after `Bearer`, in any case.
pub(super) fn bearer(header: Option<&str>) -> Option<&str> {
    let (scheme, token) = header?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the seal of a piece of reasoning: replayed reasoning must carry it unchanged.
pub(super) fn signature(reasoning: &str) -> String {
    // FNV-1a: enough to notice a change of the text or the seal.
    let hash = reasoning
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("c2lnbmVk{hash:016x}")
}
