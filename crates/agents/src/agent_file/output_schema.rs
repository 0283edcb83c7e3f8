//! `outputSchema`: a JSON schema, written as YAML or as a JSON text.

use serde_json::{Number, Value as Json};
use sortie_schema::Schema;

use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Node, Value};
use crate::text::hidden_characters::shown;

/// The schema, if it is usable: an unsupported part makes the file an error.
pub(super) fn output_schema(entry: &Entry, report: &mut FileFindings<'_>) -> Option<Json> {
    let schema = match &entry.value.value {
        Value::Map(_) => json(&entry.value),
        Value::Text(text) => match serde_json::from_str(text) {
            Ok(schema) => schema,
            Err(error) => {
                let message = format!("`outputSchema` is neither a mapping nor JSON ({error})");
                report.error(entry.line, message, "write the schema as YAML below the key, or as JSON below `|`");
                return None;
            }
        },
        Value::Nothing | Value::List(_) => {
            report.error(entry.line, "`outputSchema` is not a schema", "write it as YAML below the key");
            return None;
        }
    };
    match Schema::read(&schema) {
        Ok(_) => Some(schema),
        Err(error) => {
            let message = format!("`outputSchema` cannot be used: {}", shown(&error.to_string()));
            report.error(entry.line, message, "fix it, or delete the key");
            None
        }
    }
}

/// An unquoted scalar has the type it looks like, by JSON's spelling, not all of YAML's.
pub(super) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Nothing => Json::Null,
        Value::Text(text) if node.is_quoted => text.as_str().into(),
        Value::Text(text) => match text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            other => other.parse::<Number>().map_or_else(|_| other.into(), Json::Number),
        },
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect(),
    }
}
