//! The header of a task: all that a list shows of it.

use std::time::Duration;

use sortie_protocol::{Status, TaskId, Timestamp};

use crate::port::working_time::Worked;

/// What a list shows of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskHeader {
    pub task_id: TaskId,
    pub parent_id: Option<TaskId>,
    pub root_id: TaskId,
    pub depth: u32,
    pub leg: u32,
    pub agent: String,
    pub title: String,
    pub workspace: String,
    pub state: TaskState,
    pub started: Timestamp,
    /// Time of its last event.
    pub updated: Timestamp,
    pub worked: Worked,
}

impl TaskHeader {
    /// How long it has worked by `now`: one that has ended as its outcome says, any other as its events tell.
    pub fn worked_by(&self, now: Timestamp) -> Duration {
        match self.state {
            TaskState::Running => self.worked.so_far(now),
            TaskState::Interrupted | TaskState::Ended(_) => self.worked.known(),
        }
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    Running,
    /// It has no ending, and the process that ran it is gone.
    Interrupted,
    Ended(Status),
}
