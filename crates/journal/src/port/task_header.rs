//! The header of a task, as shown in lists.

use std::time::Duration;

use sortie_protocol::{Status, TaskId, Timestamp};

use crate::port::working_time::Worked;

/// Summary of a task, as shown in lists.
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
    /// Working time up to `now`: for an ended task from its outcome, otherwise from its events.
    pub fn worked_by(&self, now: Timestamp) -> Duration {
        match self.state {
            TaskState::Running => self.worked.so_far(now),
            TaskState::Interrupted | TaskState::Ended(_) => self.worked.known(),
        }
    }
}

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    Running,
    /// It has no ending, and its process is gone.
    Interrupted,
    Ended(Status),
}
