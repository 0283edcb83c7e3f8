//! The tasks that a task can see: those at work here first, then those in the log, which may be a moment behind.
//!
//! Other modules decide what may be done with them.

use std::sync::Arc;

use sortie_journal::{JournalError, TaskHeader, TaskState};
use sortie_protocol::{Failure, FailureCode, TaskId};

use super::Relatives;
use crate::messages::inbox::Inbox;
use crate::messages::running_task::RunningTask;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;

/// A task of the tree.
pub(crate) struct RelatedTask {
    pub(crate) task: TaskId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) agent: String,
    pub(crate) title: String,
    pub(crate) state: TaskState,
}

impl From<&RunningTask> for RelatedTask {
    fn from(RunningTask { job, .. }: &RunningTask) -> Self {
        let (agent, title) = (job.config.agent.clone(), job.title.clone());
        Self { task: job.task, parent: job.parent, agent, title, state: TaskState::Running }
    }
}

impl From<TaskHeader> for RelatedTask {
    fn from(TaskHeader { task_id, parent_id, agent, title, state, .. }: TaskHeader) -> Self {
        Self { task: task_id, parent: parent_id, agent, title, state }
    }
}

impl Relatives {
    /// Returns a task below this one.
    pub(super) async fn below(&self, asked: &str) -> Result<RelatedTask, Failure> {
        let (member, line) = self.lineage(asked).await?;
        if line.contains(&self.scope.job.task) { Ok(member) } else { Err(unknown(asked)) }
    }

    /// Returns a task to which messages may go: one below or above this one, or a sibling. This task's grant, which is
    /// never wider than its parent's, decides whether they may.
    pub(super) async fn in_reach(&self, to: &str) -> Result<RelatedTask, Failure> {
        let own_parent = self.above_now().await;
        if to.trim().eq_ignore_ascii_case("parent") {
            let nobody = || Failure::new(FailureCode::Nobody, "no task is above this one");
            return self.member(own_parent.ok_or_else(nobody)?).await;
        }
        let (member, line) = self.lineage(to).await?;
        let is_parent = [own_parent, self.scope.job.parent].contains(&Some(member.task));
        let is_sibling = member.parent.is_some() && member.parent == self.scope.job.parent;
        if member.task == self.scope.job.task {
            return Err(Failure::new(FailureCode::OwnTask, "that is this task itself"));
        }
        if is_parent || is_sibling || line.contains(&self.scope.job.task) { Ok(member) } else { Err(unknown(to)) }
    }

    /// Returns the task above this one: its parent, or the task that adopted it.
    pub(super) async fn above_now(&self) -> Option<TaskId> {
        let own = self.scope.engine.present.find(self.scope.job.task)?;
        Some(own.address.as_ref()?.hold().await.sink.task())
    }

    /// Returns the inbox of the task above this one.
    pub(super) async fn inbox_above(&self) -> Option<Arc<Inbox>> {
        let own = self.scope.engine.present.find(self.scope.job.task)?;
        Some(Arc::clone(&own.address.as_ref()?.hold().await.inbox))
    }

    /// Returns a task and its descendants, in the order of their starts.
    pub(super) async fn tree(&self, top: TaskId) -> Result<Vec<RelatedTask>, Failure> {
        let journal = Arc::clone(&self.scope.engine.journal);
        let living = self.scope.engine.present.of_tree(self.scope.job.root);
        let read = move || {
            let recorded = match journal.tree(top) {
                Err(JournalError::NoSuchTask { .. }) => Vec::new(),
                recorded => recorded.map_err(journal_failure)?,
            };
            let mut members: Vec<RelatedTask> = recorded.into_iter().map(RelatedTask::from).collect();
            // Parents registered before their children.
            for running_task in &living {
                let job = &running_task.job;
                let is_of_it = job.task == top || members.iter().any(|member| job.parent == Some(member.task));
                if is_of_it && !members.iter().any(|member| member.task == job.task) {
                    members.push(RelatedTask::from(running_task.as_ref()));
                }
            }
            Ok(members)
        };
        blocking(read).await
    }

    /// Returns a task by its id.
    pub(super) async fn member(&self, task: TaskId) -> Result<RelatedTask, Failure> {
        match self.scope.engine.present.find(task) {
            Some(running_task) => Ok(RelatedTask::from(running_task.as_ref())),
            None => self.recorded(task).await,
        }
    }

    /// Returns a task by its id, as the log has it.
    pub(super) async fn recorded(&self, task: TaskId) -> Result<RelatedTask, Failure> {
        let journal = Arc::clone(&self.scope.engine.journal);
        let found = blocking(move || journal.find(task.letters()).map_err(journal_failure)).await?.pop();
        found.map(RelatedTask::from).ok_or_else(|| unknown(&task.to_string()))
    }

    /// Returns a task by the beginning of its id, with all its ancestors.
    async fn lineage(&self, asked: &str) -> Result<(RelatedTask, Vec<TaskId>), Failure> {
        let (journal, asked, root) =
            (Arc::clone(&self.scope.engine.journal), asked.trim().to_owned(), self.scope.job.root);
        let living = self.scope.engine.present.of_tree(root);
        let read = move || {
            let letters = asked.strip_prefix("agent-").unwrap_or(&asked);
            let is_meant = |running_task: &&Arc<RunningTask>| running_task.job.task.letters().starts_with(letters);
            let mut found: Vec<RelatedTask> =
                living.iter().filter(is_meant).map(|running_task| RelatedTask::from(running_task.as_ref())).collect();
            for header in journal.find(letters).map_err(journal_failure)? {
                if header.root_id == root && !found.iter().any(|member| member.task == header.task_id) {
                    found.push(RelatedTask::from(header));
                }
            }
            let member = match found.len() {
                1 => found.remove(0),
                0 => return Err(unknown(&asked)),
                _ => return Err(ambiguous(&asked)),
            };
            let mut line = Vec::new();
            let mut next = member.parent;
            while let Some(above) = next {
                line.push(above);
                let running_task = living.iter().find(|running_task| running_task.job.task == above);
                next = if let Some(running_task) = running_task {
                    running_task.job.parent
                } else {
                    let recorded = journal.find(above.letters()).map_err(journal_failure)?.pop();
                    recorded.and_then(|header| header.parent_id)
                };
            }
            Ok((member, line))
        };
        blocking(read).await
    }
}

pub(super) fn unknown(asked: &str) -> Failure {
    Failure::new(FailureCode::NoSuchTask, format!("there is no task `{asked}` below this one"))
}

pub(super) fn ambiguous(asked: &str) -> Failure {
    Failure::new(
        FailureCode::AmbiguousTask,
        format!(
            "several task ids begin with `{asked}`; give more letters of \
        the id"
        ),
    )
}
