//! Outcomes of a task and its descendants, from events or from the journal.

use std::collections::HashMap;

use serde_json::{Value, json};
use sortie_contract::outcome_object;
use sortie_journal::{Journal, JournalError, TaskHeader, TaskState};
use sortie_protocol::open_status::{INTERRUPTED, RUNNING};
use sortie_protocol::{Event, Fact, Failure, FailureCode, TaskId, TaskOutcome};

/// Tasks of a tree as objects, folded from events.
#[derive(Debug, Default)]
pub(crate) struct OutcomeTree {
    objects: HashMap<TaskId, Value>,
    /// Children in order of start.
    children: HashMap<TaskId, Vec<TaskId>>,
}

impl OutcomeTree {
    /// Reads a task and its descendants from the journal. A damaged one appears as an error.
    pub(super) fn recalled(journal: &dyn Journal, task: TaskId) -> Result<Self, JournalError> {
        let (tree, _damages) = outcomes(journal, &journal.tree(task)?)?;
        Ok(tree)
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match &event.fact {
            Fact::TaskStarted { job } => self.start(job.task, event.parent_id, &job.config.agent, RUNNING),
            Fact::TaskResumed { config, .. } => self.start(event.task_id, event.parent_id, &config.agent, RUNNING),
            Fact::TaskEnded { outcome } => self.end(outcome),
            _ => {}
        }
    }

    /// Adds a task without an ending, with what is known of it.
    pub(crate) fn start(&mut self, task: TaskId, parent: Option<TaskId>, agent: &str, status: &str) {
        let unfinished = json!({"task_id": task, "agent": agent, "status": status});
        if let (None, Some(parent)) = (self.objects.insert(task, unfinished), parent) {
            self.children.entry(parent).or_default().push(task);
        }
    }

    pub(crate) fn end(&mut self, outcome: &TaskOutcome) {
        self.objects.insert(outcome.task_id, outcome_object(outcome));
    }

    /// Records why a task's ending cannot be shown.
    pub(crate) fn fail(&mut self, task: TaskId, failure: &Failure) {
        if let Some(object) = self.objects.get_mut(&task) {
            object["error"] = json!(failure);
        }
    }

    /// Records the ending of the root. Descendants without an ending get none.
    pub(super) fn finish(mut self, outcome: &TaskOutcome) -> Value {
        for object in self.objects.values_mut().filter(|object| object["status"] == RUNNING) {
            object["status"] = json!(INTERRUPTED);
        }
        self.end(outcome);
        self.object(outcome.task_id)
    }

    /// Outcome of a task, with its descendants nested in `children`.
    pub(crate) fn object(&self, task: TaskId) -> Value {
        let children = self.children.get(&task).into_iter().flatten();
        let children: Vec<Value> = children.map(|child| self.object(*child)).collect();
        let mut object = self.objects.get(&task).cloned().unwrap_or_else(|| json!({"task_id": task}));
        object["children"] = children.into();
        object
    }
}

/// Outcomes of a branch, each of the task's newest leg. An unreadable one appears as an error, and among the damages.
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
                tree.fail(header.task_id, &Failure::new(FailureCode::Journal, damage.to_string()));
                damages.push(damage.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    Ok((tree, damages))
}

/// Outcome of the newest leg, if that has ended. A task that has ended without an ending is damaged.
fn ending(journal: &dyn Journal, header: &TaskHeader) -> Result<Option<TaskOutcome>, JournalError> {
    if !matches!(header.state, TaskState::Ended(_)) {
        return Ok(None);
    }
    let ending = journal.ending(header.task_id)?;
    if ending.is_none() {
        // Reading the whole log shows where it is broken.
        journal.read(header.task_id)?;
    }
    Ok(ending)
}

/// State of a task, in one word.
pub(crate) fn state(header: &TaskHeader) -> String {
    match header.state {
        TaskState::Running => RUNNING.to_owned(),
        TaskState::Interrupted => INTERRUPTED.to_owned(),
        TaskState::Ended(status) => status.to_string(),
    }
}
