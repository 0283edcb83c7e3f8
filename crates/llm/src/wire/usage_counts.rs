//! Token counts as providers report them.
//!
//! Missing, negative or absurd counts count as zero and never break a call.

use serde_json::Value;

/// No reply costs a thousand million tokens; a larger figure is a mistake of the server.
const ABSURD: u64 = 1_000_000_000;

/// The count at a path of keys, if there is a believable one.
pub(super) fn count(usage: &Value, path: &[&str]) -> Option<u64> {
    let value = path.iter().try_fold(usage, |value, key| value.get(key))?;
    value.as_u64().filter(|&count| count < ABSURD)
}

/// What was not cached of `input` tokens, where `cached` of them are said to have been. More than all of them cannot be
/// a part of them: such a server tells it beside them.
pub(super) fn uncached(input: u64, cached: u64) -> u64 {
    input.checked_sub(cached).unwrap_or(input)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_believable_counts_are_counted() {
        let usage = json!({ "good": 7, "negative": -1, "text": "9", "float": 1.5, "huge": 1e30, "absurd": u64::MAX,
            "null": null, "deep": { "good": 3 } });
        assert_eq!(count(&usage, &["good"]), Some(7));
        assert_eq!(count(&usage, &["deep", "good"]), Some(3));
        for key in ["negative", "text", "float", "huge", "absurd", "null", "missing", "deep"] {
            assert_eq!(count(&usage, &[key]), None, "{key}");
        }
    }
}
