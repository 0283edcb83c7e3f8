//! What somebody wants of a task that another process may run: a wish, not a fact. What came of it stands in the log.

use serde::{Deserialize, Serialize};

use crate::{Sender, TaskId};

/// A wish, imperative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// End the task and all below it. Stopping twice, or too late, does no harm.
    Stop { task: TaskId },
    /// Have the task read a message at its next turn. One that is not at work, or ends before it could, reads it should
    /// somebody go on with it.
    Send { task: TaskId, from: Sender, text: String },
    /// Have the task not read a message that has not arrived, should somebody go on with it: its sender was told that
    /// it was missed. `command` is the number of the one by which it was sent.
    Withdraw { task: TaskId, command: i64 },
    /// Let the task go on by itself: the call that waits for it is answered, and its report comes later.
    Release { task: TaskId },
    /// A wish that this version does not know; owners pass over it.
    #[serde(other)]
    Unknown,
}

impl Command {
    /// Whom it is for.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Stop { task } | Self::Send { task, .. } | Self::Withdraw { task, .. } | Self::Release { task } => {
                Some(*task)
            }
            Self::Unknown => None,
        }
    }
}
