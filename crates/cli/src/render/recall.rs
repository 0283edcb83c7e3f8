//! The tasks of a branch as the journal has them: what became of those that no run of this process has shown.

use std::collections::HashMap;

use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::{CallId, Event, Fact, Failure, TaskId, TaskOutcome};

use super::machine::{INTERRUPTED, OutcomeTree, RUNNING};
use super::words;

/// A task that was begun before this process, and those below it, in what only the log tells of that.
#[derive(Debug)]
pub(crate) struct Begun {
    /// The one that goes on.
    pub(crate) task: TaskId,
    /// The dialect of the tree.
    pub(crate) contract: String,
    pub(crate) titles: HashMap<TaskId, String>,
    /// What the calls were about that each of them had open.
    pub(crate) asked: HashMap<TaskId, HashMap<CallId, String>>,
}

impl Begun {
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

/// The calls of a task's newest reply, in words. Where its log cannot be read they stay without: whoever goes on with it
/// says what is wrong.
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

/// The outcomes of a branch, of each task that of its newest leg. One that cannot be read is told as an error in its
/// place, and among the damages.
pub(crate) fn outcomes(
    journal: &dyn Journal,
    branch: &[TaskHeader],
) -> Result<(OutcomeTree, Vec<String>), JournalError> {
    let (mut tree, mut damages) = (OutcomeTree::default(), Vec::new());
    for header in branch {
        tree.start(header.task_id, header.parent_id, &header.agent, &state(header));
        match ending(journal, header) {
            Ok(Some(outcome)) => tree.end(&outcome),
            Ok(None) => {}
            Err(damage @ (JournalError::DamagedTask { .. } | JournalError::Damaged { .. })) => {
                tree.fail(header.task_id, &Failure::new("journal", damage.to_string()));
                damages.push(damage.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    Ok((tree, damages))
}

/// How the newest leg ended, if it has. One that has ended and left no ending is damaged.
fn ending(journal: &dyn Journal, header: &TaskHeader) -> Result<Option<TaskOutcome>, JournalError> {
    if !matches!(header.state, TaskState::Ended(_)) {
        return Ok(None);
    }
    let ending = journal.ending(header.task_id)?;
    if ending.is_none() {
        // Reading the whole log says where it is broken.
        journal.read(header.task_id)?;
    }
    Ok(ending)
}

/// Where a task stands, in one word.
pub(crate) fn state(header: &TaskHeader) -> String {
    match header.state {
        TaskState::Running => RUNNING.to_owned(),
        TaskState::Interrupted => INTERRUPTED.to_owned(),
        TaskState::Ended(status) => status.to_string(),
    }
}
