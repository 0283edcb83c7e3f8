//! How one leg of a task ended: exactly one of these, and it says what happened.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Failure, ModelChoice, TaskId, Usage};

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
    /// Notice that an earlier task gave this outcome, for the same request on the same files. It is among `notices`,
    /// too. Not stored: it is about how the outcome was come by.
    #[serde(skip)]
    pub given_again: Option<String>,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCount {
    pub tool: String,
    pub count: u64,
}

impl TaskOutcome {
    /// Outcome of a task of which nothing is known but that it failed.
    pub fn failed(task_id: TaskId, agent: String, model: ModelChoice, failure: Failure) -> Self {
        Self {
            task_id,
            agent,
            status: Status::Failed,
            reason: None,
            text: String::new(),
            structured: None,
            files_changed: Vec::new(),
            tool_summary: Vec::new(),
            model,
            usage: Usage::default(),
            truncated: false,
            full_text_path: None,
            truncation: None,
            deadline_ms: None,
            notices: Vec::new(),
            error: Some(failure),
            given_again: None,
        }
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
