//! Commands to a task that another process may run: wishes, not facts. The log shows what came of them.

use serde::{Deserialize, Serialize};

use crate::{Sender, TaskId};

/// A wish, in the imperative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// End the task and all below it. Stopping twice, or too late, does no harm.
    Stop { task: TaskId },
    /// Give the task a message to read at its next turn. If the task is not running, or ends first, it reads the
    /// message when resumed.
    Send { task: TaskId, from: Sender, text: String },
    /// Withdraw a message that did not arrive in time, so that a resumed task does not read it. Its sender was told
    /// that it was missed. `command` is the number of its `Send`.
    Withdraw { task: TaskId, command: i64 },
    /// Move the task to the background: the call that waits for it returns, and its report comes later.
    Release { task: TaskId },
    /// Note that a host has read the report of this leg, so that it is not offered again. A host has no log of its own.
    MarkRead { task: TaskId, leg: u32 },
    /// A command that this version does not know; owners skip it.
    #[serde(other)]
    Unknown,
}

impl Command {
    /// The task that the command is for.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Stop { task }
            | Self::Send { task, .. }
            | Self::Withdraw { task, .. }
            | Self::Release { task }
            | Self::MarkRead { task, .. } => Some(*task),
            Self::Unknown => None,
        }
    }
}
