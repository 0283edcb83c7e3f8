//! The plan of an append: decides before anything is written, by rules that every journal follows.

use std::collections::HashMap;

use sortie_protocol::{Fact, TaskId};

use crate::port::{Entry, JournalError};
use crate::tasks::owner::Owner;
use crate::tasks::progress::{Origin, Progress};

/// Effect of an append, which is carried out whole or not at all.
#[derive(Debug, Default)]
pub(crate) struct AppendPlan {
    /// The number of each entry within its task, in the order of the entries.
    pub(crate) seqs: Vec<u64>,
    /// The tasks that the append starts, in order.
    pub(crate) started: Vec<Origin>,
    /// New state of each task that it touches.
    pub(crate) progress: HashMap<TaskId, Progress>,
}

impl AppendPlan {
    /// Counts a new child of `parent`, even if the append does not otherwise touch it.
    fn count_child(&mut self, parent: Option<TaskId>, known: impl Fn(TaskId) -> Option<Progress>) {
        let Some(parent) = parent else { return };
        if let Some(mut progress) = self.progress.get(&parent).copied().or_else(|| known(parent)) {
            progress.children += 1;
            self.progress.insert(parent, progress);
        }
    }
}

/// Numbers the entries, or returns why the append is refused. `known` gives the current state of a task.
pub(crate) fn plan<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    owner: Owner,
    known: impl Fn(TaskId) -> Option<Progress>,
) -> Result<AppendPlan, JournalError> {
    let mut plan = AppendPlan::default();
    for entry in entries {
        let stands = plan.progress.get(&entry.task_id).copied().or_else(|| known(entry.task_id));
        let mut progress = match (&entry.fact, stands) {
            (Fact::TaskStarted { .. }, Some(_)) => return Err(JournalError::AlreadyStarted { task: entry.task_id }),
            (Fact::TaskStarted { job }, None) => {
                plan.started.push(Origin::new(entry, job));
                Progress::before(entry, owner)
            }
            (_, Some(progress)) => progress,
            (_, None) => return Err(JournalError::NoSuchTask { asked: entry.task_id.to_string() }),
        };
        plan.seqs.push(progress.advance(entry, owner)?);
        plan.progress.insert(entry.task_id, progress);
        if let Fact::TaskStarted { job } = &entry.fact {
            plan.count_child(job.parent, &known);
        }
    }
    Ok(plan)
}
