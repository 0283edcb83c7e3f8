//! Configuration of an agent's run: complete, immutable, serialisable. Nothing later reads a flag or a file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ForkedContext, Grant, Limits, TaskId};

/// An agent with every setting decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    pub agent: String,
    pub model: ModelChoice,
    /// The model's name as the call, the agent's file, its type or the settings ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_asked: Option<String>,
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
    /// The JSON schema that the answer must fit; `system` contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The task's choice of tools from MCP servers.
    #[serde(default, skip_serializing_if = "ServerTools::is_nothing")]
    pub server_tools: ServerTools,
}

/// Tools of MCP servers, which may change or disappear while a task runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTools {
    /// Digest of each tool at the start, by name. A resumed task is not offered a tool that has changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<String, String>,
    /// Note to the model about tools that are missing, or back again, at a start or a resume. It joins the conversation
    /// after the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ServerTools {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A route to a model, and the model's id there.
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
    /// Cap on the report in characters, including the truncation mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_characters: Option<usize>,
    /// Cap on the report in lines, including the truncation mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_lines: Option<usize>,
    /// Cap on the report in bytes as a JSON string, including the truncation mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_cap_json_bytes: Option<usize>,
    /// Oddities of the request, reported in the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Actual tokens per hundred estimated, as known for this model when the task began; `None` if not known to exceed
    /// the estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_percent: Option<u32>,
    /// Beginning of its conversation, if the task was forked from its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Box<ForkedContext>>,
    /// Files whose text is part of its system prompt, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context_files: Vec<String>,
    /// Access beyond the workspace when the task was started.
    #[serde(default, skip_serializing_if = "Reach::is_nothing")]
    pub reach: Reach,
    pub config: AgentConfig,
}

/// Access beyond the workspace that a person gave. A resumed task gets no more than it had when it was started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Absolute paths of the directories added to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// True if its commands run without walls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfined: bool,
}

impl Reach {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
