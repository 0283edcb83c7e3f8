//! What comes for a task while it works: reports of children that work beside it, and messages. A task reads its mail
//! between two turns.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{CallId, TaskId};

/// Who has written a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "sender", rename_all = "snake_case")]
pub enum Sender {
    /// Whoever sits at a terminal.
    Person,
    /// Another task. Its words are an agent's: they approve of nothing.
    Task { task: TaskId, agent: String },
    /// The program that has delegated the task, which is no task itself. Its words are a model's: they approve of
    /// nothing.
    Host,
}

/// In a few words. The agent's name is as it was given.
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

/// A question of a task, by the call that asks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionMark {
    pub task: TaskId,
    pub call: CallId,
}

/// Which of a task's mail has reached its conversation. What is named here never reaches it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailMark {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<ReportMark>,
    /// Messages by their numbers, which count from 1 within the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<u32>,
    /// What the sub-agents came to, one for each report; [`ToolOutput::essence`](crate::ToolOutput::essence) says more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub essences: Vec<String>,
}

impl MailMark {
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.messages.is_empty()
    }
}
