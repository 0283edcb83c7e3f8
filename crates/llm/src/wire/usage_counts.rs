//! Token counts as providers report them.
//!
//! Missing, negative or absurd counts count as zero and never break a call.

use serde_json::Value;

/// Largest plausible count: no reply costs a billion tokens, so a larger figure is the server's mistake.
const ABSURD: u64 = 1_000_000_000;

/// Returns the count at a path of keys, if it is plausible.
pub(super) fn count(usage: &Value, path: &[&str]) -> Option<u64> {
    let value = path.iter().try_fold(usage, |value, key| value.get(key))?;
    value.as_u64().filter(|&count| count < ABSURD)
}

/// Returns the uncached share of `input` tokens, given the reported `cached` ones. If `cached` is the larger, the
/// server counts the two separately.
pub(super) fn uncached(input: u64, cached: u64) -> u64 {
    input.checked_sub(cached).unwrap_or(input)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_plausible_counts_are_read() {
        let usage = json!({ "good": 7, "negative": -1, "text": "9", "float": 1.5, "huge": 1e30, "absurd": u64::MAX,
            "null": null, "deep": { "good": 3 } });
        assert_eq!(count(&usage, &["good"]), Some(7));
        assert_eq!(count(&usage, &["deep", "good"]), Some(3));
        for key in ["negative", "text", "float", "huge", "absurd", "null", "missing", "deep"] {
            assert_eq!(count(&usage, &[key]), None, "{key}");
        }
    }
}
