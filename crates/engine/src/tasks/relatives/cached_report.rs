//! Reports that a task got from the result cache.
//!
//! It can read them as it got them, whatever has happened to their tasks since. Nothing else of those tasks is within
//! reach.

use std::sync::Arc;

use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, Fact, Failure, FailureCode, TaskId, TaskOutcome};
use sortie_tools::{Glance, Stand};

use super::visible::{ambiguous, unknown};
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::scope::TaskScope;

/// A report from the cache, as this task knows it.
pub(super) struct Given {
    title: String,
    pub(super) outcome: Box<TaskOutcome>,
}

impl From<Given> for Glance {
    fn from(Given { title, outcome }: Given) -> Self {
        let (task, agent) = (outcome.task_id, outcome.agent.clone());
        Self { task, parent: None, agent, title, stand: Stand::Ended { outcome, unread: None } }
    }
}

/// Finds a cached report by the beginning of its task's id. This task's own log lists them.
pub(super) async fn given(scope: &TaskScope, asked: &str) -> Result<Given, Failure> {
    let (journal, own, asked) = (Arc::clone(&scope.engine.journal), scope.job.task, asked.trim().to_owned());
    let read = move || {
        let letters = asked.strip_prefix("agent-").unwrap_or(&asked);
        let mut found: Vec<TaskId> = Vec::new();
        let mut look = |event: Event| match event.fact {
            Fact::OutcomeGiven { from, .. } if from.letters().starts_with(letters) && !found.contains(&from) => {
                found.push(from);
            }
            _ => {}
        };
        journal.read_each(own, 1, &mut look).map_err(journal_failure)?;
        match found[..] {
            [task] => as_given(journal.as_ref(), task),
            [] => Err(unknown(&asked)),
            _ => Err(ambiguous(&asked)),
        }
    };
    blocking(read).await
}
/// Reads the first ending of a task: the cache never reuses a later one.
fn as_given(journal: &dyn Journal, task: TaskId) -> Result<Given, Failure> {
    let (mut title, mut ended) = (String::new(), None);
    let mut look = |event: Event| match event.fact {
        Fact::TaskStarted { job } => title = job.title,
        Fact::TaskEnded { outcome } if ended.is_none() => ended = Some(outcome),
        _ => {}
    };
    match journal.read_each(task, 1, &mut look) {
        Ok(()) | Err(JournalError::NoSuchTask { .. }) => {}
        Err(error) => return Err(journal_failure(error)),
    }
    let gone = || {
        let message = format!("{task} is no longer in the journal; only the part of its report that you got is left");
        Failure::new(FailureCode::NoReport, message)
    };
    Ok(Given { title, outcome: ended.ok_or_else(gone)? })
}
