//! A request for a task, in any dialect, before anything is decided.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Fork, Limits, ModelChoice};

/// A request for a task. Contracts decode into it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRequest {
    pub title: String,
    pub prompt: String,
    pub agent: String,
    /// True if nobody named the agent and this is the default. A template may override it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_is_usual: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model of a requester that is not a task. It is used as a parent's model would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lent_model: Option<ModelChoice>,
    /// Levels of tasks that may be at this task and below it, if the requester works for another Sortie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// True if the caller does not wait and gets the report later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Id, as given, of an ended task to resume with this prompt instead of starting a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    #[serde(default)]
    pub limits: Limits,
    /// A JSON schema that the answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Part of the caller's conversation that the task begins with; `None` leaves it to the agent's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Fork>,
    /// Files whose text becomes part of the system prompt; `None` leaves the choice to the agent's file and the
    /// settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_files: Option<Vec<String>>,
    /// True if the task, and every task below it, may only read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_only: bool,
    /// Oddities of the request that did not stop it, e.g. ignored keys. They are reported in the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}
