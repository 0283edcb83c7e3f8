//! The fields of a call's arguments, each taken once. What is wrong with one is said by its name.
//!
//! A field that is `null` counts as not given. What is left at the end is what the dialect does not know.

use serde_json::{Map, Value};
use sortie_protocol::{Failure, FailureCode};

use crate::json;

pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn read(arguments: &str) -> Result<Self, Failure> {
        json::object(arguments).map(Self)
    }

    /// What was given under this name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
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

    /// A field that says yes or no; not given is no.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(invalid(format!("`{name}` must be true or false, not {}", json::kind(&other)))),
        }
    }

    /// Takes an empty string for a field that was not given.
    pub(crate) fn drop_empty(&mut self, name: &str) {
        if self.0.get(name).and_then(Value::as_str) == Some("") {
            self.0.remove(name);
        }
    }

    /// One notice for each field that nobody took.
    pub(crate) fn into_notices(self) -> Vec<String> {
        self.0.keys().map(|key| format!("unknown key `{key}` was ignored")).collect()
    }

    /// The name of a field that nobody took.
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

/// The field is understood, but nothing serves it yet. It is refused, never ignored.
pub(crate) fn unsupported(name: &str) -> Failure {
    Failure::new(FailureCode::Unsupported, format!("`{name}` is not available in this version; call again without it"))
}
