//! Spelling of fields. Google's JSON has two of each, `mimeType` and `mime_type`; the official SDK mixes them.

use serde_json::{Map, Value};

/// Fields whose content is the caller's own.
const FREE: &[&str] = &["args", "response", "parametersJsonSchema", "responseJsonSchema"];
/// The field whose keys are the caller's own.
const NAMED_BY_CALLER: &str = "properties";

/// Converts every field to camel case.
pub(super) fn in_camel_case(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(in_camel_case).collect(),
        Value::Object(fields) => Value::Object(fields.iter().map(respelled).collect()),
        other => other.clone(),
    }
}

fn respelled((key, value): (&String, &Value)) -> (String, Value) {
    let key = camel_case(key);
    let value = match value {
        free if FREE.contains(&key.as_str()) => free.clone(),
        Value::Object(properties) if key == NAMED_BY_CALLER => {
            let schemas = properties.iter().map(|(name, schema)| (name.clone(), in_camel_case(schema)));
            Value::Object(schemas.collect::<Map<_, _>>())
        }
        other => in_camel_case(other),
    };
    (key, value)
}

fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}
