//! How one leg of a task ended: exactly one of these, and it says what happened.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ModelChoice, TaskId, Usage};

/// The ending of a task's leg, in the words of the `sortie` contract; other contracts render it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOutcome {
    pub task_id: TaskId,
    pub agent: String,
    pub status: Status,
    /// Which limit made it partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Limit>,
    /// The report, or what there was of it.
    pub text: String,
    /// The value in `text`, where one was asked for by a schema: it fits that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    /// Calls that ran, by tool, in alphabetical order. Calls that were refused or did not fit do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_summary: Vec<ToolCount>,
    pub model: ModelChoice,
    /// Of the task with its descendants, over all its legs.
    pub usage: Usage,
    /// Set when `text` was cut; the whole is then at `full_text_path`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_text_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// The time that it had, where that ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// A task that works on by itself, as the one who asked for it is told at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    pub task_id: TaskId,
    pub agent: String,
    pub model: ModelChoice,
    /// Grows while it works, and ends with its report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// How much of a report was kept, the mark of the cut not counted. A text without a line end has one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncation {
    pub original_lines: usize,
    pub original_bytes: usize,
    pub kept_lines: usize,
    pub kept_bytes: usize,
}

/// In one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Completed,
    /// A limit ended it; `reason` names the limit, `text` has what there was.
    Partial,
    /// It ran and broke, or had no time left before it could; `error` says how.
    Failed,
    Cancelled,
    /// It never ran; `error` says why.
    Rejected,
}

/// A limit that ended a task before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Turns,
    Tokens,
    Cost,
    Deadline,
    Stalled,
    Context,
    /// The model's last reply ran into the cap on one reply.
    Output,
    /// It did the same again and again.
    Loop,
}

/// What went wrong: a stable code for programs, a message for people that says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub code: String,
    pub message: String,
    /// The names or figures that the message speaks of, for contracts that have words of their own for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Path of the setting that refuses, where the message names one. It is not written down.
    #[serde(skip)]
    pub setting: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCount {
    pub tool: String,
    pub count: u64,
}

impl Failure {
    /// The code of a task that worked for one that could not go on after a crash.
    pub const ABOVE_FAILED: &str = "above_failed";

    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), details: Vec::new(), setting: None }
    }

    /// Names the setting that refuses, by its path.
    #[must_use]
    pub fn due_to(self, setting: &'static str) -> Self {
        Self { setting: Some(setting), ..self }
    }

    /// The same with what the message speaks of.
    #[must_use]
    pub fn about(self, details: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { details: details.into_iter().map(Into::into).collect(), ..self }
    }

    /// What becomes of a task that this kept from starting: nobody has refused one whose time ran out.
    pub fn status_unstarted(&self) -> Status {
        if self.code == "timeout" { Status::Failed } else { Status::Rejected }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Deadline => "deadline",
            Self::Stalled => "stalled",
            Self::Context => "context",
            Self::Output => "output",
            Self::Loop => "loop",
        })
    }
}
