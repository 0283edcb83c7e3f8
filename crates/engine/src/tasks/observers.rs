//! Tasks that the observers of this engine expect. A journal may be shared with other engines and processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sortie_protocol::{Job, TaskId, TaskRequest};

/// The requester's own words. The journal may cut the title, and has the agent that serves.
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

/// For a resumed task: the words of the log.
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
    /// Adds an observer, which stays for as long as it keeps the result.
    pub(crate) fn join(&self) -> Arc<Expected> {
        let seat = Arc::new(Expected::default());
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&seat));
        seat
    }

    /// Makes every observer expect a task. Called before the task is in the journal, so that no observer overlooks it.
    pub(crate) fn announce(&self, task: TaskId, asked: &Asked) {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).retain(|seat| {
            let Some(expected) = seat.upgrade() else { return false };
            expected.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task, asked.clone());
            true
        });
    }
}
