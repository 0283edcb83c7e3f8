//! Arguments without their long texts: the caller knows them, and would pay for them again.

/// Longest text that is not shortened.
const MAX_CHARS: usize = 1000;
/// Length that is kept of a shortened text.
const KEPT_CHARS: usize = 200;

/// Returns a text unchanged, or its start with a mark that gives its length.
pub(super) fn text(text: &str) -> String {
    let n_chars = text.chars().count();
    if n_chars <= MAX_CHARS {
        return text.to_owned();
    }
    let start: String = text.chars().take(KEPT_CHARS).collect();
    format!("{start}… [shortened: {n_chars} characters in all]")
}

/// Shortens each long text in JSON, at any depth, and keeps every other byte. Text that is not JSON is returned
/// unchanged.
pub(super) fn json(json: &str) -> String {
    let mut shortened = String::with_capacity(json.len().min(4 * MAX_CHARS));
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let Some(n_bytes) = literal_bytes(&rest[start..]) else { break };
        let literal = &rest[start..start + n_bytes];
        shortened.push_str(&rest[..start]);
        shortened.push_str(&short_literal(literal).unwrap_or_else(|| literal.to_owned()));
        rest = &rest[start + n_bytes..];
    }
    shortened + rest
}

/// Returns the length of the string literal that starts here.
fn literal_bytes(json: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return Some(at + 1),
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    None
}

fn short_literal(literal: &str) -> Option<String> {
    // Most are short even with all their escapes.
    let long: String = (literal.len() > MAX_CHARS).then(|| serde_json::from_str(literal).ok())??;
    serde_json::to_string(&text(&long)).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn long_texts_are_shortened_at_any_depth_and_all_else_is_unchanged() {
        let long = "ä\"\\\n".repeat(300);
        let given = json!({"path": "a", "edits": [{"old": long, "new": "x".repeat(1000)}], "n": 1}).to_string();
        let short: Value = serde_json::from_str(&json(&given)).expect("JSON");
        let old = short["edits"][0]["old"].as_str().expect("a text");
        assert!(long.starts_with(&old[..100]) && old.ends_with("… [shortened: 1200 characters in all]"), "{old}");
        assert_eq!((&short["path"], &short["n"]), (&json!("a"), &json!(1)));
        assert_eq!(short["edits"][0]["new"], "x".repeat(1000), "that is not long");
        let exact = r#"{"a":1.50,"b\\":"\"","c":[1E400,"\u00e4"]}"#;
        assert_eq!(json(exact), exact);
        assert_eq!(json("no \"json"), "no \"json");
    }
}
