//! The tasks that observers of this engine expect. A journal may be shared with other engines and other processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sortie_protocol::{Job, TaskId, TaskRequest};

/// What the journal does not keep as it was said: a title may be cut there, and the agent is the one that serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) title: String,
    pub(crate) agent: String,
}

/// Tasks that one observer's thread has yet to meet in the journal. It takes each one out when it does.
#[derive(Debug, Default)]
pub(crate) struct Expected(Mutex<HashMap<TaskId, Asked>>);

/// All observers of one engine.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    seats: Mutex<Vec<Weak<Expected>>>,
}

impl From<&TaskRequest> for Asked {
    fn from(request: &TaskRequest) -> Self {
        Self { title: request.title.clone(), agent: request.agent.clone() }
    }
}

/// Of a task that goes on: in the words of the log.
impl From<&Job> for Asked {
    fn from(job: &Job) -> Self {
        Self { title: job.title.clone(), agent: job.config.agent.clone() }
    }
}

impl Expected {
    pub(crate) fn take(&self, task: TaskId) -> Option<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&task)
    }
}

impl Audience {
    /// One more observer, for as long as it keeps what it gets here.
    pub(crate) fn join(&self) -> Arc<Expected> {
        let seat = Arc::new(Expected::default());
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&seat));
        seat
    }

    /// Has every observer expect a task. Said before the task is in the journal, so that none of them overlooks it.
    pub(crate) fn announce(&self, task: TaskId, asked: &Asked) {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).retain(|seat| {
            let Some(expected) = seat.upgrade() else { return false };
            expected.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task, asked.clone());
            true
        });
    }
}
