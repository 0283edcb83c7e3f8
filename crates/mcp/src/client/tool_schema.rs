//! A tool's schema in a form that providers accept. They reject a whole request for one tool whose schema has a choice
//! at its top level, or uses an old draft.

use serde_json::{Map, Value, json};

/// Keywords not allowed at the top level.
const REFUSED: [&str; 5] = ["anyOf", "oneOf", "allOf", "enum", "not"];
/// Longest removed part that is described to the model.
const MAX_TOLD_BYTES: usize = 500;

type Object = Map<String, Value>;

/// Returns the schema, and a note on the parts removed from it. The server checks arguments itself, so a more
/// permissive schema does no harm.
pub(crate) fn acceptable(mut schema: Object) -> (Value, Option<String>) {
    let (mut refused, mut required) = (Object::new(), names(schema.get("required")));
    let mut properties = properties(&schema);
    for key in REFUSED {
        let Some(taken) = schema.shift_remove(key) else { continue };
        let branches: Vec<Object> = match (&taken, key) {
            (Value::Array(branches), "anyOf" | "oneOf" | "allOf") => {
                branches.iter().filter_map(|branch| resolved(branch, &schema)).collect()
            }
            _ => Vec::new(),
        };
        for branch in &branches {
            for (name, property) in self::properties(branch) {
                properties.entry(name).or_insert(property);
            }
        }
        let demanded: Vec<Vec<String>> = branches.iter().map(|branch| names(branch.get("required"))).collect();
        let by_all = |name: &&String| key == "allOf" || demanded.iter().all(|names| names.contains(name));
        let more: Vec<String> = demanded.iter().flatten().filter(by_all).cloned().collect();
        for name in more {
            if !required.contains(&name) {
                required.push(name);
            }
        }
        refused.insert(key.to_owned(), taken);
    }
    properties.values_mut().for_each(modernise);
    // Models fill in arguments in this order, and small ones are lost among optional ones that come first.
    let (first, then): (Object, Object) = properties.into_iter().partition(|(name, _)| required.contains(name));
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), first.into_iter().chain(then).collect());
    if required.is_empty() {
        schema.shift_remove("required");
    } else {
        schema.insert("required".to_owned(), json!(required));
    }
    let told = (!refused.is_empty()).then(|| match Value::Object(refused).to_string() {
        text if text.len() <= MAX_TOLD_BYTES => format!("(Arguments must also match: {text})"),
        _ => "(Which of its arguments go together is not said here.)".to_owned(),
    });
    (schema.into(), told)
}

/// Resolves a branch that refers to another place in the schema.
fn resolved(branch: &Value, schema: &Object) -> Option<Object> {
    let Some(place) = branch["$ref"].as_str() else { return branch.as_object().cloned() };
    let (part, rest) = place.strip_prefix("#/")?.split_once('/')?;
    schema.get(part)?.pointer(&format!("/{rest}"))?.as_object().cloned()
}

fn properties(schema: &Object) -> Object {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Names of required properties. An old draft marks each property instead.
fn names(required: Option<&Value>) -> Vec<String> {
    let names = required.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Removes keywords of the old draft, at every depth.
fn modernise(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.get("required").is_some_and(|required| !required.is_array()) {
        schema.shift_remove("required");
    }
    let inner = schema.get_mut("properties").and_then(Value::as_object_mut);
    inner.into_iter().flat_map(Map::values_mut).for_each(modernise);
    schema.get_mut("items").into_iter().for_each(modernise);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: Value) -> (Value, Option<String>) {
        let Value::Object(schema) = schema else { panic!("{schema} is no object") };
        acceptable(schema)
    }

    #[test]
    fn an_acceptable_schema_is_unchanged() {
        let schema = json!({
            "type": "object", "properties": { "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] } },
            "required": ["a"], "additionalProperties": false, "$defs": { "b": {} }
        });
        assert_eq!(of(schema.clone()), (schema, None));
        assert_eq!(of(json!({})), (json!({ "type": "object", "properties": {} }), None));
    }

    #[test]
    fn a_choice_at_the_top_becomes_all_its_options_with_a_note() {
        let (schema, told) = of(json!({
            "properties": { "own": {} },
            "oneOf": [
                { "properties": { "kind": { "const": "a" }, "a": {} }, "required": ["kind", "a"] },
                { "$ref": "#/$defs/b" }
            ],
            "$defs": { "b": { "properties": { "kind": { "const": "b" }, "b": {} }, "required": ["b", "kind"] } }
        }));
        assert_eq!(schema["properties"], json!({ "own": {}, "kind": { "const": "a" }, "a": {}, "b": {} }));
        assert_eq!((&schema["required"], schema.get("oneOf")), (&json!(["kind"]), None));
        assert!(told.unwrap().starts_with(r#"(Arguments must also match: {"oneOf":[{"#));
    }

    #[test]
    fn properties_required_by_all_branches_are_required() {
        let (schema, told) = of(json!({
            "type": ["object", "null"], "required": ["own"], "not": { "required": ["z"] },
            "allOf": [{ "required": ["a"] }, { "required": ["b"], "properties": { "b": {} } }]
        }));
        let expected = json!({ "type": "object", "properties": { "b": {} }, "required": ["own", "a", "b"] });
        assert_eq!(schema, expected);
        assert!(told.unwrap().contains(r#""not":{"required":["z"]}"#));
        let (_, told) = of(json!({ "enum": ["x".repeat(1_000)] }));
        assert_eq!(told.unwrap(), "(Which of its arguments go together is not said here.)");
    }

    #[test]
    fn required_properties_come_first_and_all_else_stays_in_its_order() {
        let (schema, _) = of(json!({
            "$schema": "x", "properties": { "z": {}, "b": {}, "y": {}, "a": {} }, "required": ["a", "b"],
            "type": "object", "additionalProperties": false
        }));
        let expected = json!({
            "$schema": "x", "properties": { "b": {}, "a": {}, "z": {}, "y": {} }, "required": ["a", "b"],
            "type": "object", "additionalProperties": false
        });
        assert_eq!(schema.to_string(), expected.to_string());
    }

    #[test]
    fn keywords_of_an_old_draft_are_removed() {
        let (schema, told) = of(json!({
            "required": true,
            "properties": {
                "required": { "type": "string", "required": true },
                "list": { "items": { "properties": { "x": { "required": false } }, "required": ["x"] } }
            }
        }));
        let properties = json!({
            "required": { "type": "string" }, "list": { "items": { "properties": { "x": {} }, "required": ["x"] } }
        });
        assert_eq!((schema, told), (json!({ "type": "object", "properties": properties }), None));
        assert_eq!(of(json!({ "properties": [1] })).0["properties"], json!({}));
    }
}
