//! Calls without success, in fields that every dialect with room for them shares: `failed`, `refused` and `notice`.

use serde_json::{Map, Value, json};
use sortie_protocol::TaskOutcome;

/// Returns these fields for the end of an answer, each only if there is something to say.
pub(crate) fn without_success(outcome: &TaskOutcome) -> Map<String, Value> {
    let lists = [("failed", &outcome.failed), ("refused", &outcome.refused)];
    let lists = lists.into_iter().filter(|(_, calls)| !calls.is_empty()).map(|(name, calls)| (name, json!(calls)));
    let notice = outcome.fruitless().map(|notice| ("notice", json!(notice)));
    lists.chain(notice).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the schemas of these fields.
pub(crate) fn schemas() -> Map<String, Value> {
    let mut schemas = list_schemas();
    schemas.insert("notice".to_owned(), json!({"type": "string"}));
    schemas
}

/// Returns the schemas of the two lists of calls without success.
pub(crate) fn list_schemas() -> Map<String, Value> {
    let calls = json!({
        "type": "object",
        "properties": {"tool": {"type": "string"}, "count": {"type": "integer"}, "reason": {"type": "string"}},
        "required": ["tool", "count", "reason"],
    });
    let list = |about: &str| json!({"type": "array", "description": about, "items": calls});
    Map::from_iter([
        ("failed".to_owned(), list("Calls that ran and failed, by tool")),
        ("refused".to_owned(), list("Calls that were refused and did not run, by tool")),
    ])
}
