//! What it means to run an agent: complete, immutable, serialisable. Nothing after it reads a flag or a file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Grant, Limits, TaskId};

/// An agent with everything decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    pub agent: String,
    pub model: ModelChoice,
    /// The system prompt, complete.
    pub system: String,
    /// The tools offered to the model, in the order in which they are offered.
    pub tools: Vec<String>,
    pub grant: Grant,
    pub limits: Limits,
    /// 0 for a task without a parent.
    pub depth: u32,
    /// Names of the agents from the root down to this one, itself included.
    pub chain: Vec<String>,
    /// The JSON schema that its answer must fit; `system` tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What was decided of the tools that others' servers have.
    #[serde(default, skip_serializing_if = "ServerTools::is_nothing")]
    pub server_tools: ServerTools,
}

/// The tools of others' servers, which may change or be gone while a task is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTools {
    /// By name, what each of them was when the task began: one that is another by now is not offered when it goes on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<String, String>,
    /// What the model is told of those that are missing, or are there again, where the task begins or goes on. It joins
    /// the conversation behind the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ServerTools {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A way to a model and the model's id there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelChoice {
    pub route: String,
    pub id: String,
}

/// Everything that the engine needs to run one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub task: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The top of the tree that this task belongs to; itself for a task without a parent.
    pub root: TaskId,
    /// A few words for lists and displays.
    pub title: String,
    /// The first user message, sent unchanged.
    pub prompt: String,
    /// Absolute path of the workspace root.
    pub workspace: String,
    /// The dialect in which this task's calls to Task are read and answered.
    pub contract: String,
    /// A report above this many bytes is cut and spilled to a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_bytes: Option<usize>,
    /// The same in characters, the mark of the cut included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_characters: Option<usize>,
    /// The same in lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_lines: Option<usize>,
    /// The same in the bytes that it takes within a JSON string, the mark included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_json_bytes: Option<usize>,
    /// What was odd about the request; it ends in the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// How many tokens its model was known to count, when the task began, for a hundred that are estimated; `None` for
    /// no more than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_percent: Option<u32>,
    /// What it could reach beyond its workspace when it was started.
    #[serde(default, skip_serializing_if = "Reach::is_nothing")]
    pub reach: Reach,
    pub config: AgentConfig,
}

/// What a person opened to a task beyond its workspace. A task that goes on reaches no more than it did when it was
/// started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Absolute paths of the directories that were added to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Whether its commands run without walls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfined: bool,
}

impl Reach {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
