//! The tasks of a branch as the journal has them: what became of those that no run of this process has shown.

use std::collections::HashMap;

use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::{Failure, TaskId, TaskOutcome};

use super::machine::{INTERRUPTED, OutcomeTree, RUNNING};

/// A task that was begun before this process, and those below it, in what only their beginnings tell.
#[derive(Debug)]
pub(crate) struct Begun {
    /// The one that goes on.
    pub(crate) task: TaskId,
    /// The dialect of the tree.
    pub(crate) contract: String,
    pub(crate) titles: HashMap<TaskId, String>,
}

impl Begun {
    pub(crate) fn read(journal: &dyn Journal, task: TaskId) -> Result<Self, JournalError> {
        let contract = journal.beginning(task)?.contract;
        let titles = journal.tree(task)?.into_iter().map(|header| (header.task_id, header.title)).collect();
        Ok(Self { task, contract, titles })
    }
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
