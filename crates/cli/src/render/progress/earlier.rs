//! Titles and open calls of tasks that began before this process, read from their logs.

use std::collections::HashMap;

use sortie_journal::{Journal, JournalError, TaskState};
use sortie_protocol::{CallId, Event, Fact, TaskId};

use crate::text::words;

/// A task that began before this process, with those below it, as their logs tell.
#[derive(Debug)]
pub(crate) struct EarlierTasks {
    /// The one that goes on.
    pub(crate) task: TaskId,
    /// The dialect of the tree.
    pub(crate) contract: String,
    pub(crate) titles: HashMap<TaskId, String>,
    /// What the calls were about that each of them had open.
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

/// The calls of a task's newest reply, in words. Where its log cannot be read they stay without: whoever goes on with
/// it says what is wrong.
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
