//! Fields of a call's arguments, each taken once. Errors name their field.
//!
//! A field that is `null` counts as absent. Fields left at the end are unknown to the dialect, and stay in the caller's
//! order.

use serde_json::{Map, Value};
use sortie_protocol::{Failure, FailureCode};

use crate::json;

pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn read(arguments: &str) -> Result<Self, Failure> {
        json::object(arguments).map(Self)
    }

    /// Takes the value of a field, if it was given.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<String, Failure> {
        self.optional_text(name)?.ok_or_else(|| invalid(format!("`{name}` is missing; it must be a non-empty string")))
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(invalid(format!("`{name}` is empty; it must be a non-empty string")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(invalid(format!("`{name}` must be a non-empty string, not {}", json::kind(&other)))),
        }
    }

    pub(crate) fn optional_choice(&mut self, name: &str, choices: &[&str]) -> Result<Option<String>, Failure> {
        match self.optional_text(name)? {
            Some(other) if !choices.contains(&other.as_str()) => {
                Err(invalid(format!("`{name}` must be one of {}, not `{other}`", choices.join(", "))))
            }
            chosen => Ok(chosen),
        }
    }

    /// Takes a boolean field; absent means false.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(invalid(format!("`{name}` must be true or false, not {}", json::kind(&other)))),
        }
    }

    /// Treats an empty string as an absent field.
    pub(crate) fn drop_empty(&mut self, name: &str) {
        if self.0.get(name).and_then(Value::as_str) == Some("") {
            self.0.shift_remove(name);
        }
    }

    /// Returns a notice for each field that was not taken.
    pub(crate) fn into_notices(self) -> Vec<String> {
        self.0.keys().map(|key| format!("unknown key `{key}` was ignored")).collect()
    }

    /// Returns the name of a field that was not taken.
    pub(crate) fn first_left(&self) -> Option<&str> {
        self.0.keys().next().map(String::as_str)
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(fields: Map<String, Value>) -> Self {
        Self(fields)
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureCode::InvalidArguments, message)
}

/// The field is known, but not implemented yet. It is refused, never ignored.
pub(crate) fn unsupported(name: &str) -> Failure {
    Failure::new(FailureCode::Unsupported, format!("`{name}` is not available in this version; call again without it"))
}
