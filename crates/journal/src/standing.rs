//! How far a task has come, and which process has it.

use sortie_protocol::TaskId;

use crate::owner::Owner;
use crate::task::Progress;
use crate::{JournalError, TaskState};

/// Where a task stands, for whoever wants to go on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub task_id: TaskId,
    /// The newest leg; it is over when the state says so.
    pub leg: u32,
    /// The attempt that wrote last. Going on takes a higher one.
    pub attempt: u32,
    pub state: TaskState,
    pub last_seq: u64,
    pub holder: Holder,
}

/// Which process runs a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The leg has ended, or its process is gone.
    Nobody,
    ThisProcess,
    /// Another one, which lives; it may be stopped.
    Other {
        pid: u32,
    },
}

impl Standing {
    pub(crate) fn new(task_id: TaskId, progress: &Progress) -> Self {
        let open = progress.status.is_none();
        let holder = if open && progress.owner == Owner::current() {
            Holder::ThisProcess
        } else if open && progress.owner.is_alive() {
            Holder::Other { pid: progress.owner.pid }
        } else {
            Holder::Nobody
        };
        let state = match (progress.status, holder) {
            (Some(status), _) => TaskState::Ended(status),
            (None, Holder::Nobody) => TaskState::Interrupted,
            (None, Holder::ThisProcess | Holder::Other { .. }) => TaskState::Running,
        };
        Self { task_id, leg: progress.leg, attempt: progress.attempt, state, last_seq: progress.last_seq, holder }
    }

    /// The attempt under which to go on with the task, or the refusal to take it from a process that runs it.
    ///
    /// Where two processes ask at once both get the same number, and the first to write has the task.
    pub fn next_attempt(&self) -> Result<u32, JournalError> {
        match self.holder {
            Holder::Nobody => Ok(self.attempt.saturating_add(1)),
            Holder::ThisProcess => Err(JournalError::StillRunning { task: self.task_id, pid: std::process::id() }),
            Holder::Other { pid } => Err(JournalError::StillRunning { task: self.task_id, pid }),
        }
    }
}
