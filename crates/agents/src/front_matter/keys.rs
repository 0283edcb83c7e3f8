//! The keys of front matter, and how to tell them from similar lines.
//!
//! `tools`, `disallowedTools`, `permissionMode` and `maxTurns` restrict an agent. An unnoticed misspelling of them
//! would leave it more than its author meant, so they are searched for with care. The other limits are not: other
//! programs have similar keys with other meanings (`max_tokens` of one reply), so these are only reported.

use sortie_protocol::nearest;

use crate::text::look_alike::plain_letters;

/// Every key that a definition may have.
pub(crate) const KEYS: [&str; 24] = [
    "name",
    "description",
    "tools",
    "disallowedTools",
    "model",
    "permissionMode",
    "maxTurns",
    "maxTokens",
    "maxCostUsd",
    "timeout",
    "idleTimeout",
    "maxChildren",
    "outputSchema",
    "fork",
    "contextFiles",
    "skills",
    "mcpServers",
    "hooks",
    "memory",
    "background",
    "effort",
    "isolation",
    "color",
    "initialPrompt",
];

/// Keys whose values are lists of tools.
pub(crate) const TOOL_LISTS: [&str; 2] = ["tools", "disallowedTools"];

/// Keys with prose values, which may contain lines that look like keys.
pub(crate) const PROSE: [&str; 2] = ["description", "initialPrompt"];

/// The key at the start of this line in YAML form, with its value.
pub(crate) fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let word = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    (word && !key.starts_with('-') && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some((key, rest))
}

/// The known key at the start of this line, with its value, however it is written: `tools:Read`, `"tools" : Read`.
pub(crate) fn known_key(line: &str) -> Option<(&'static str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    KEYS.into_iter().find(|known| *known == key).map(|known| (known, rest))
}

/// The restricting key that this one must mean: `allowed-tools`, `Tools`, `max_turns`.
pub(crate) fn narrowing(key: &str) -> Option<&'static str> {
    const DENY: [&str; 7] = ["disallow", "deny", "denied", "block", "forbid", "exclud", "without"];
    let letters = plain_letters(key);
    if letters.contains("tools") || letters.ends_with("tool") {
        let denies = DENY.iter().any(|deny| letters.contains(deny));
        return Some(if denies { "disallowedTools" } else { "tools" });
    }
    // By its letters alone this would match the opposite.
    if ["allow", "allowed", "allowlist"].contains(&letters.as_str()) {
        return Some("tools");
    }
    // Shorter ones are part of too many other words.
    nearest(&letters, ["tools", "disallowedTools", "permissionMode", "maxTurns"]).filter(|_| letters.len() >= 4)
}

/// The known key that a line inside a value, indented or a list item, seems to mean.
pub(crate) fn key_inside(line: &str) -> Option<&'static str> {
    let inner = line.trim_start_matches([' ', '\t', '-', '*']);
    let misspelt = || key_of(inner).and_then(|(key, _)| narrowing(key));
    // An indented line without a colon is prose; an unindented one is misplaced.
    let lost = || narrowing_without_colon(inner).filter(|_| !line.starts_with([' ', '\t']));
    known_key(inner).map(|(key, _)| key).or_else(misspelt).or_else(lost)
}

/// Matches `disallowedTools Task` and `Tools = [Read]`, but not prose that begins with the word, as `tools that it
/// has`.
fn narrowing_without_colon(line: &str) -> Option<&'static str> {
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let letters = plain_letters(word);
    let is_value = !rest.trim_start().starts_with(|c: char| c.is_lowercase() || matches!(c, ',' | '.' | ';' | ')'));
    match letters.as_str() {
        "disallowedtools" => Some("disallowedTools"),
        "tools" | "allowedtools" if is_value => Some("tools"),
        _ => None,
    }
}
