//! What someone asked for, in any dialect, before anything is decided.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Limits, ModelChoice};

/// A wish to have a task done. Contracts decode into it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRequest {
    pub title: String,
    pub prompt: String,
    pub agent: String,
    /// Nobody named that agent: it serves where none is named, and a template may know better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_is_usual: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model of the one who asks, where that is no task: it serves as a parent's model would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lent_model: Option<ModelChoice>,
    /// Whether the caller goes on at once and gets the report later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The id, as it was given, of a task that has ended and should go on with this prompt instead of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    #[serde(default)]
    pub limits: Limits,
    /// A JSON schema that the answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What was odd about the request but did not stop it, e.g. ignored keys. They end in the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}
