//! What a tool is to a model, and what comes back from one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CallId;

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments: an object schema.
    pub schema: Value,
}

/// What a tool returned. A failure is data: the model reads it and acts on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub for_model: String,
    /// One short line for a progress display, e.g. `12 matches in 3 files`.
    pub for_people: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The text is an answer in a form of its own, which tells a failure in its own words: nothing may be put before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verbatim: bool,
    /// Paths relative to the workspace root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    /// Images and documents for the model beside the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The HTTP status that comes nearest to what went wrong, where the contract of a Task tool names one. For programs
    /// that follow along; a model never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

/// A file that the model gets as it is, where its wire can carry it; elsewhere the wire says in words that it was left
/// out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The file's name or path, for people and for models.
    pub name: String,
    /// E.g. `image/png`, `application/pdf`.
    pub media_type: String,
    /// The bytes in standard base64, padded. Shared: a history is never copied for it.
    pub data: Arc<str>,
}

/// A tool's output, bound to the call that asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutput {
    pub call: CallId,
    #[serde(flatten)]
    pub output: ToolOutput,
}

impl ToolOutput {
    pub fn done(for_model: impl Into<String>, for_people: impl Into<String>) -> Self {
        Self {
            for_model: for_model.into(),
            for_people: for_people.into(),
            failed: false,
            verbatim: false,
            files_changed: Vec::new(),
            attachments: Vec::new(),
            code: None,
        }
    }

    /// The same with files for the model.
    #[must_use]
    pub fn with_attachments(self, attachments: Vec<Attachment>) -> Self {
        Self { attachments, ..self }
    }

    /// A failure. The text says what happened and what to do next.
    pub fn failure(for_model: impl Into<String>) -> Self {
        let for_model = for_model.into();
        let for_people = for_model.lines().next().unwrap_or_default().to_owned();
        Self { failed: true, ..Self::done(for_model, for_people) }
    }
}
