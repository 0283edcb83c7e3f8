//! The ending of one leg of a task: exactly one of these, with all its figures.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::open_status::INTERRUPTED;
use crate::{Failure, ModelChoice, TaskId, Usage};

/// The ending of a task's leg, in the words of the `sortie` contract; other contracts render it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOutcome {
    pub task_id: TaskId,
    pub agent: String,
    pub status: Status,
    /// Reason why it is partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Limit>,
    /// The report, or as much of it as exists.
    pub text: String,
    /// The value in `text`, if a schema was requested; it fits that schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    /// Calls that ran, by tool, in order of first use. Refused and malformed calls do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_summary: Vec<ToolCount>,
    /// Calls that ran and failed, by tool, in order of the first failure. They also count in `tool_summary`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedCalls>,
    /// Calls that were refused or malformed and did not run, by tool, in order of the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<FailedCalls>,
    pub model: ModelChoice,
    /// Usage of the task and its descendants over all legs.
    pub usage: Usage,
    /// Set if `text` was cut; the full text is then at `full_text_path`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_text_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// The task's time limit, if it ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Notice that an earlier task gave this outcome, for the same request on the same files. Also among `notices`. Not
    /// stored: it describes the delivery, not the outcome.
    #[serde(skip)]
    pub given_again: Option<String>,
}

/// A task started in the background, as reported to the caller at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    pub task_id: TaskId,
    pub agent: String,
    pub model: ModelChoice,
    /// Grows while the task runs, and ends with its report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Extent of a report before and after the cut, without the truncation mark. A text without a line break has one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncation {
    pub original_lines: usize,
    pub original_bytes: usize,
    pub kept_lines: usize,
    pub kept_bytes: usize,
}

/// The outcome in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Completed,
    /// A limit ended it, or the model has no answer; `reason` says which, `text` has the result so far.
    Partial,
    /// It ran and broke, or ran out of time before it could start; `error` has the reason.
    Failed,
    Cancelled,
    /// Its process was told to stop. Nothing of it has ended, the journal has no such outcome, and a resume continues
    /// it where it was.
    Interrupted,
    /// It never ran; `error` has the reason.
    Rejected,
}

/// Limit that ended a task early, the model's own among them: it may have no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Turns,
    Tokens,
    Cost,
    Deadline,
    Stalled,
    Context,
    /// The model's last reply hit the cap on a single reply.
    Output,
    /// It repeated itself.
    Loop,
    /// The model was done and has no answer: it declined, or found nothing.
    NoAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCount {
    pub tool: String,
    pub count: u64,
}

/// Calls of one tool that failed or were refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCalls {
    pub tool: String,
    pub count: u64,
    /// Reason for the first one, in one line.
    pub reason: String,
}

impl TaskOutcome {
    /// Outcome of a task that failed and of which nothing else is known.
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
            failed: Vec::new(),
            refused: Vec::new(),
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

impl TaskOutcome {
    /// Returns a notice if the task completed, made calls itself, and none of them succeeded or changed a file. Any
    /// other status says enough.
    pub fn fruitless(&self) -> Option<String> {
        let sum = |counts: &[FailedCalls]| counts.iter().map(|calls| calls.count).fold(0, u64::saturating_add);
        let (failed, refused) = (sum(&self.failed), sum(&self.refused));
        let ran = self.tool_summary.iter().map(|tool| tool.count).fold(0, u64::saturating_add);
        let calls = ran.saturating_add(refused);
        let has_effect = failed < ran || !self.files_changed.is_empty();
        if self.status != Status::Completed || calls == 0 || has_effect {
            return None;
        }
        Some(match (calls, refused) {
            (1, 0) => "its only tool call failed".to_owned(),
            (1, _) => "its only tool call was refused".to_owned(),
            (_, 0) => format!("none of its {calls} tool calls succeeded: all failed"),
            _ if failed == 0 => format!("none of its {calls} tool calls succeeded: all were refused"),
            _ => format!("none of its {calls} tool calls succeeded: {failed} failed, {refused} refused"),
        })
    }
}

impl Limit {
    /// Returns the clause that tells people about it.
    pub fn clause(self) -> String {
        match self {
            Self::NoAnswer => "the model has no answer".to_owned(),
            limit => format!("the limit of {limit} was reached"),
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
            Self::Interrupted => INTERRUPTED,
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
            Self::NoAnswer => "no_answer",
        })
    }
}
