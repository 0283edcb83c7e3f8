//! Mail to a running task: messages, and reports of background children. A task reads its mail between two turns.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{CallId, TaskId};

/// Author of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "sender", rename_all = "snake_case")]
pub enum Sender {
    /// The person at the terminal.
    Person,
    /// Another task. Its words are an agent's: they never count as approval.
    Task { task: TaskId, agent: String },
    /// The program that delegated the task and is not itself a task. Its words are a model's: they never count as
    /// approval.
    Host,
}

/// A short description, with the agent's name as given.
impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("the person"),
            Self::Task { task, agent } => write!(f, "{agent} {task}"),
            Self::Host => f.write_str("the program that delegates"),
        }
    }
}

/// The report of one leg of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReportMark {
    pub child: TaskId,
    pub leg: u32,
}

/// A task's question, identified by the call that asks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionMark {
    pub task: TaskId,
    pub call: CallId,
}

/// Mail that has reached the task's conversation, and is never delivered again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailMark {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<ReportMark>,
    /// Numbers of the messages, counted from 1 within the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<u32>,
    /// Result digests of the sub-agents, one for each report; see [`ToolOutput::essence`](crate::ToolOutput::essence).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub essences: Vec<String>,
}

impl MailMark {
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.messages.is_empty()
    }
}
