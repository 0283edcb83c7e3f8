//! The standing of a task: how far it has come, and which process has it.

use sortie_protocol::TaskId;

use crate::port::error::JournalError;
use crate::port::task_header::TaskState;

/// How far a task has come, for whoever wants to go on with it.
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
    /// Another one, of which nothing can be found out from here: it counts as running.
    OutOfSight {
        pid: u32,
    },
}

impl Standing {
    /// The attempt under which to go on with the task, or the refusal to take it from a process that runs it.
    ///
    /// Where two processes ask at once both get the same number, and the first to write has the task, if it says in
    /// [`Entry::after`](crate::Entry::after) how far it has read.
    pub fn next_attempt(&self) -> Result<u32, JournalError> {
        match self.holder {
            Holder::Nobody => Ok(self.attempt.saturating_add(1)),
            Holder::OutOfSight { pid } => Err(JournalError::OutOfSight { task: self.task_id, pid }),
            Holder::ThisProcess => Err(JournalError::StillRunning { task: self.task_id, pid: std::process::id() }),
            Holder::Other { pid } => Err(JournalError::StillRunning { task: self.task_id, pid }),
        }
    }

    /// This standing, where somebody knows that this process does not run the task any more.
    #[must_use]
    pub(crate) fn forsaken(self) -> Self {
        match self.holder {
            Holder::ThisProcess => Self { holder: Holder::Nobody, state: TaskState::Interrupted, ..self },
            Holder::Nobody | Holder::Other { .. } | Holder::OutOfSight { .. } => self,
        }
    }

    /// This standing, where somebody knows that a process which cannot be seen from here is gone. Should it live after
    /// all, it is shut out and ends itself; what it had begun goes on until then.
    #[must_use]
    pub fn given_up(self) -> Self {
        match self.holder {
            Holder::OutOfSight { .. } => Self { holder: Holder::Nobody, state: TaskState::Interrupted, ..self },
            Holder::Nobody | Holder::ThisProcess | Holder::Other { .. } => self,
        }
    }
}
