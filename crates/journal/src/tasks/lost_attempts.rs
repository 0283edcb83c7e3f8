//! Attempts of this process that have lost an entry. They may not append any more: their logs would have an unnoticed
//! hole. A newer attempt continues from what is there.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sortie_protocol::TaskId;

use crate::port::{Entry, JournalError, Standing, TaskHeader, TaskState};

#[derive(Debug, Default)]
pub(crate) struct LostAttempts(Mutex<HashMap<TaskId, Lost>>);

/// An attempt that is shut out, and the reason.
#[derive(Debug)]
struct Lost {
    attempt: u32,
    refusal: JournalError,
    /// No attempt works on the task any more.
    is_forsaken: bool,
}

impl LostAttempts {
    /// Refuses entries of lost attempts.
    pub(crate) fn admit<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>) -> Result<(), JournalError> {
        let all = self.lock();
        let refusal = entries.into_iter().find_map(|entry| {
            let Lost { attempt, refusal, .. } = all.get(&entry.task_id)?;
            (entry.attempt <= *attempt).then_some(refusal)
        });
        refusal.map_or(Ok(()), |refusal| Err(refusal.clone()))
    }

    /// Shuts out the attempts of refused entries that nobody waited for.
    pub(crate) fn add<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>, refusal: &JournalError) {
        let mut all = self.lock();
        for entry in entries {
            add(&mut all, entry.task_id, entry.attempt, refusal);
        }
    }

    /// Shuts out an attempt.
    pub(crate) fn shut_out(&self, task: TaskId, attempt: u32, why: &JournalError) {
        add(&mut self.lock(), task, attempt, why);
    }

    /// Shuts out an attempt that stopped without an ending.
    pub(crate) fn forsake(&self, task: TaskId, attempt: u32, why: &JournalError) {
        let mut all = self.lock();
        add(&mut all, task, attempt, why);
        if let Some(lost) = all.get_mut(&task).filter(|lost| lost.attempt == attempt) {
            lost.is_forsaken = true;
        }
    }

    /// True if the newest attempt of the task was this process's, and has stopped.
    fn is_forsaken(&self, task: TaskId) -> bool {
        self.lock().get(&task).is_some_and(|lost| lost.is_forsaken)
    }

    /// Corrects a header for a forsaken task: the log says who wrote last, not whether that writer still works.
    pub(crate) fn correct_header(&self, header: &mut TaskHeader) {
        if header.state == TaskState::Running && self.is_forsaken(header.task_id) {
            header.state = TaskState::Interrupted;
        }
    }

    /// Corrects the standing of a forsaken task.
    pub(crate) fn correct_standing(&self, standing: Standing) -> Standing {
        if self.is_forsaken(standing.task_id) { standing.forsaken() } else { standing }
    }

    /// Forgets attempts older than these written entries. The log itself now fences them out.
    pub(crate) fn forget<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>) {
        let mut all = self.lock();
        for entry in entries {
            if all.get(&entry.task_id).is_some_and(|lost| lost.attempt < entry.attempt) {
                all.remove(&entry.task_id);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Lost>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds an attempt, unless a newer one is known.
fn add(all: &mut HashMap<TaskId, Lost>, task: TaskId, attempt: u32, refusal: &JournalError) {
    if all.get(&task).is_none_or(|lost| lost.attempt < attempt) {
        all.insert(task, Lost { attempt, refusal: refusal.clone(), is_forsaken: false });
    }
}
