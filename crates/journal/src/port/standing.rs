//! The standing of a task: its progress, and the process that runs it.

use sortie_protocol::TaskId;

use crate::port::error::JournalError;
use crate::port::task_header::TaskState;

/// Progress of a task, as needed to resume it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub task_id: TaskId,
    /// The newest leg; `state` tells whether it is over.
    pub leg: u32,
    /// The attempt that wrote last. A resume takes a higher one.
    pub attempt: u32,
    pub state: TaskState,
    pub last_seq: u64,
    pub holder: Holder,
}

/// The process that runs a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The leg has ended, or its process is gone.
    Nobody,
    ThisProcess,
    /// Another live process, which may be stopped.
    Other {
        pid: u32,
    },
    /// Another process whose state cannot be determined from here: it counts as running.
    OutOfSight {
        pid: u32,
    },
}

impl Standing {
    /// Returns the attempt for a resume, or an error if a process still runs the task.
    ///
    /// If two processes ask at once, both get the same number, and the first to write gets the task. For this, each
    /// must put the end of the log it read into [`Entry::after`](crate::Entry::after).
    pub fn next_attempt(&self) -> Result<u32, JournalError> {
        match self.holder {
            Holder::Nobody => Ok(self.attempt.saturating_add(1)),
            Holder::OutOfSight { pid } => Err(JournalError::OutOfSight { task: self.task_id, pid }),
            Holder::ThisProcess => Err(JournalError::StillRunning { task: self.task_id, pid: std::process::id() }),
            Holder::Other { pid } => Err(JournalError::StillRunning { task: self.task_id, pid }),
        }
    }

    /// The standing after this process has given up the task.
    #[must_use]
    pub(crate) fn forsaken(self) -> Self {
        match self.holder {
            Holder::ThisProcess => Self { holder: Holder::Nobody, state: TaskState::Interrupted, ..self },
            Holder::Nobody | Holder::Other { .. } | Holder::OutOfSight { .. } => self,
        }
    }

    /// The standing if a process that is not visible from here is known to be gone. If it lives after all, it is shut
    /// out and ends itself; work it had begun continues until then.
    #[must_use]
    pub fn given_up(self) -> Self {
        match self.holder {
            Holder::OutOfSight { .. } => Self { holder: Holder::Nobody, state: TaskState::Interrupted, ..self },
            Holder::Nobody | Holder::ThisProcess | Holder::Other { .. } => self,
        }
    }
}
