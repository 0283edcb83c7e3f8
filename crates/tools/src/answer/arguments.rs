//! Arguments as models really write them: numbers in quotes, `null` for "not given", unknown keys.
//!
//! Only forms with one possible meaning are accepted. Everything else is an error that the model reads and corrects.

use std::collections::BTreeMap;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::Value;

/// Keys that the tool does not know. Flatten it into an input; the output names its keys.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Unknown(BTreeMap<String, Value>);

impl Unknown {
    /// Returns a note that these keys were ignored, if there are any.
    pub(crate) fn note(&self) -> Option<String> {
        const MAX_NAMED: usize = 5;
        if self.0.is_empty() {
            return None;
        }
        let names: Vec<String> = self.0.keys().take(MAX_NAMED).map(|name| name.chars().take(40).collect()).collect();
        let more = if self.0.len() > MAX_NAMED { ", …" } else { "" };
        Some(format!("unknown arguments ignored: {}{more}", names.join(", ")))
    }
}

/// Reads a whole number, also in quotes.
pub(crate) fn optional_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|_| not_a_count(&text)),
        Value::Number(number) => whole(&number).map(Some).ok_or_else(|| not_a_count(&number)),
        other => Err(not_a_count(&other)),
    }
}

/// Reads `true` or `false`, also in quotes.
pub(crate) fn optional_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(flag)),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        other => Err(Error::custom(format_args!("`{other}` is neither true nor false"))),
    }
}

/// Reads a text; an empty one means "not given".
pub(crate) fn optional_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

/// Reads a list of texts, or a single one.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Texts {
        None(()),
        One(String),
        Many(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer).map_err(|_| Error::custom("expected a text or a list of texts"))? {
        Texts::None(()) => Vec::new(),
        Texts::One(text) => Some(text).filter(|text| !text.is_empty()).into_iter().collect(),
        Texts::Many(texts) => texts,
    })
}

/// Reads a list, also as JSON in a text.
pub(crate) fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let items = match Value::deserialize(deserializer)? {
        Value::String(json) => serde_json::from_str(&json),
        items => serde_json::from_value(items),
    };
    items.map_err(Error::custom)
}

fn whole(number: &serde_json::Number) -> Option<u64> {
    // Some models write every number with a decimal point.
    let fractional = || number.as_f64().filter(|value| value.fract() == 0.0 && (0.0..1e15).contains(value));
    #[expect(clippy::cast_sign_loss, reason = "the range is checked in the line above")]
    number.as_u64().or_else(|| fractional().map(|value| value as u64))
}

fn not_a_count<E: Error>(given: &impl std::fmt::Display) -> E {
    E::custom(format_args!("`{given}` is not a whole number of 0 or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Input {
        #[serde(default, deserialize_with = "optional_count")]
        count: Option<u64>,
        #[serde(default, deserialize_with = "optional_flag")]
        flag: Option<bool>,
        #[serde(default, deserialize_with = "optional_text")]
        text: Option<String>,
        #[serde(default, deserialize_with = "texts")]
        list: Vec<String>,
        #[serde(flatten)]
        unknown: Unknown,
    }

    fn parse(json: &str) -> Result<Input, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn numbers_are_accepted_in_every_form_that_has_one_meaning() {
        for json in [r#"{"count":7}"#, r#"{"count":"7"}"#, r#"{"count":" 7 "}"#, r#"{"count":7.0}"#] {
            assert_eq!(parse(json).unwrap().count, Some(7), "{json}");
        }
        for json in ["{}", r#"{"count":null}"#, r#"{"count":""}"#] {
            assert_eq!(parse(json).unwrap().count, None, "{json}");
        }
        for json in
            [r#"{"count":-1}"#, r#"{"count":1.5}"#, r#"{"count":"many"}"#, r#"{"count":[1]}"#, r#"{"count":1e300}"#]
        {
            assert!(parse(json).is_err(), "{json}");
        }
    }

    #[test]
    fn flags_texts_and_lists_are_accepted_in_every_form_that_has_one_meaning() {
        let input = parse(r#"{"flag":"True","text":"","list":"one"}"#).unwrap();
        assert_eq!((input.flag, input.text, input.list), (Some(true), None, vec!["one".to_owned()]));
        let input = parse(r#"{"flag":null,"text":"x","list":["a","b"]}"#).unwrap();
        assert_eq!((input.flag, input.text.as_deref(), input.list.len()), (None, Some("x"), 2));
        assert_eq!(parse(r#"{"list":null}"#).unwrap().list, Vec::<String>::new());
        assert!(parse(r#"{"flag":"perhaps"}"#).is_err());
        assert!(parse(r#"{"list":[1]}"#).is_err());
    }

    #[test]
    fn unknown_keys_are_named() {
        assert_eq!(parse(r#"{"count":1}"#).unwrap().unknown.note(), None);
        let note = parse(r#"{"colour":{"a":[1]},"depth":3}"#).unwrap().unknown.note();
        assert_eq!(note.as_deref(), Some("unknown arguments ignored: colour, depth"));
    }
}
