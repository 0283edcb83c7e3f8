//! Titles and open calls of tasks that began before this process, read from their logs.

use std::collections::HashMap;

use sortie_journal::{Journal, JournalError, TaskState};
use sortie_protocol::{CallId, Event, Fact, TaskId};

use crate::text::words;

/// Task that began before this process, with its descendants, by their logs.
#[derive(Debug)]
pub(crate) struct EarlierTasks {
    /// Resumed task.
    pub(crate) task: TaskId,
    /// Contract of the tree.
    pub(crate) contract: String,
    pub(crate) titles: HashMap<TaskId, String>,
    /// Titles of the open calls of each task.
    pub(crate) asked: HashMap<TaskId, HashMap<CallId, String>>,
}

impl EarlierTasks {
    pub(crate) fn read(journal: &dyn Journal, task: TaskId) -> Result<Self, JournalError> {
        let contract = journal.beginning(task)?.contract;
        let (mut titles, mut asked) = (HashMap::new(), HashMap::new());
        for header in journal.tree(task)? {
            if !matches!(header.state, TaskState::Ended(_)) {
                asked.insert(header.task_id, asked_last(journal, header.task_id));
            }
            titles.insert(header.task_id, header.title);
        }
        Ok(Self { task, contract, titles, asked })
    }
}

/// Calls of a task's newest reply, in words. If its log is unreadable there are none; the resume itself reports the
/// error.
fn asked_last(journal: &dyn Journal, task: TaskId) -> HashMap<CallId, String> {
    let mut asked = HashMap::new();
    let mut see = |event: Event| {
        if let Fact::ModelReplied { reply, .. } = event.fact {
            asked = reply.calls().map(|call| (call.id.clone(), words::call(call))).collect();
        }
    };
    journal.read_each(task, 1, &mut see).ok();
    asked
}
