//! The protocol's object: the fields of every result, with the arguments digit by digit as given, or without their long
//! texts.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::shortened;
use crate::json;

/// A result. The fields are in the order of the protocol.
#[derive(Debug, Serialize)]
pub(super) struct Object<'a> {
    pub(super) status: &'static str,
    pub(super) data: Map<String, Value>,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Error>,
    pub(super) stats: Value,
    pub(super) context: Context<'a>,
}

/// An error in the protocol's form.
#[derive(Debug, Serialize)]
pub(super) struct Error {
    pub(super) code: &'static str,
    pub(super) message: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Context<'a> {
    pub(super) cwd: &'a str,
    params_input: Parameters<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path_resolved: Option<&'a str>,
    /// Set if the result must not be cut any further.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncation_skip: bool,
}

/// The arguments as given; a string if they are not a readable object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Parameters<'a> {
    Object(Box<RawValue>),
    Text(Cow<'a, str>),
}

impl<'a> Context<'a> {
    pub(super) fn new(cwd: &'a str, arguments: &'a str) -> Self {
        Self { cwd, params_input: Parameters::of(arguments), path_resolved: None, truncation_skip: false }
    }

    /// Shortens long texts among the arguments.
    pub(super) fn shortened(cwd: &'a str, arguments: &'a str) -> Self {
        let params_input = match Parameters::of(arguments) {
            Parameters::Object(object) => {
                let short = RawValue::from_string(shortened::json(object.get()));
                short.map_or(Parameters::Object(object), Parameters::Object)
            }
            Parameters::Text(text) => Parameters::Text(shortened::text(&text).into()),
        };
        Self { params_input, ..Self::new(cwd, "") }
    }
}

impl<'a> Parameters<'a> {
    fn of(arguments: &'a str) -> Self {
        let object = json::object(arguments).ok().and_then(|_| RawValue::from_string(json::one_line(arguments)).ok());
        object.map_or(Self::Text(arguments.into()), Self::Object)
    }
}

impl Object<'_> {
    pub(super) fn into_value(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the text. A [`Value`] would keep no more digits of a number than machine numbers have.
    pub(super) fn into_text(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}
