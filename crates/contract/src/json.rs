//! Parsing and measuring of foreign JSON: objects without duplicate keys, fields by name, sizes in bytes.

pub(crate) mod fields;
pub(crate) mod size;

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use sortie_protocol::{Failure, FailureCode};

/// Parses a JSON object. The failure says what is wrong and where.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str::<Unique>(text) {
        Ok(Unique(Value::Object(object))) => Ok(object),
        Ok(Unique(other)) => Err(Failure::new(
            FailureCode::InvalidArguments,
            format!("the arguments must be a JSON object, not {}", kind(&other)),
        )),
        Err(error) => Err(Failure::new(FailureCode::InvalidArguments, unreadable(&error.to_string()))),
    }
}

/// Describes why a text could not be parsed.
fn unreadable(error: &str) -> String {
    // Such a text is valid JSON, which has no largest number; its author would look for the mistake elsewhere.
    match error.strip_prefix("number out of range") {
        Some(place) => format!("the arguments hold a number out of range{place}"),
        None => format!("the arguments are not valid JSON: {error}"),
    }
}

/// Adds fields at the end of an object.
pub(crate) fn with_fields(mut object: Value, fields: Map<String, Value>) -> Value {
    if let Value::Object(own) = &mut object {
        own.extend(fields);
    }
    object
}

/// Returns the value of a field, if it was given.
pub(crate) fn field(arguments: &str, name: &str) -> Option<Value> {
    object(arguments).ok()?.shift_remove(name)
}

/// Returns a text field, letter by letter; empty if it was not given.
pub(crate) fn text_field(arguments: &str, name: &str) -> String {
    field(arguments, name).as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Removes the whitespace between the parts of JSON, and keeps every other byte.
pub(crate) fn one_line(json: &str) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let is_kept = |letter: &char| {
        if in_text {
            in_text = is_escaped || *letter != '"';
            is_escaped = !is_escaped && *letter == '\\';
            return true;
        }
        in_text = *letter == '"';
        !letter.is_whitespace()
    };
    json.chars().filter(is_kept).collect()
}

/// Names a value's kind, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value without duplicate keys in any object. `serde_json` alone would silently keep the last one.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, Unique>()? {
            if object.contains_key(&key) {
                return Err(serde::de::Error::custom(format!("the key `{key}` occurs twice")));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn one_line_removes_only_the_space_between_parts() {
        let json = "{ \"a b\" :\n [1.50, 1E400 ,\t\"\\\\\" , \"\\\" : \" ] }";
        assert_eq!(one_line(json), "{\"a b\":[1.50,1E400,\"\\\\\",\"\\\" : \"]}");
    }
}
