//! Where a task's facts go: stamped with the task, its leg and the time, and into the journal.

use std::sync::Arc;

use sortie_journal::{Durability, Entry, Journal, JournalError};
use sortie_protocol::{CallId, Fact, Job, TaskOutcome};

use crate::Clock;

/// The first run of a task's loop. A takeover after a crash will write under a higher number.
const FIRST_ATTEMPT: u32 = 1;
const FIRST_LEG: u32 = 1;

/// One task's way into the journal.
#[derive(Clone)]
pub(crate) struct Sink {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    job: Arc<Job>,
}

impl Sink {
    pub(crate) fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>, job: Arc<Job>) -> Self {
        Self { journal, clock, job }
    }

    /// Records a fact in its place in the order.
    pub(crate) async fn append(&self, fact: Fact) -> Result<(), JournalError> {
        self.journal.append(vec![self.entry(fact)], Durability::Ordered).await
    }

    /// Records a fact and waits until it is on disk.
    pub(crate) async fn append_synced(&self, fact: Fact) -> Result<(), JournalError> {
        self.journal.append(vec![self.entry(fact)], Durability::Synced).await
    }

    /// Records the beginning of a task, together with its parent's word of it: both or neither.
    pub(crate) async fn begin(&self, parent: Option<(&Sink, &CallId)>) -> Result<(), JournalError> {
        let mut entries = vec![self.entry(Fact::TaskStarted { job: Box::new(Job::clone(&self.job)) })];
        if let Some((parent, call)) = parent {
            entries.push(parent.entry(Fact::ChildStarted { call: call.clone(), child: self.job.task }));
        }
        self.journal.append(entries, Durability::Ordered).await
    }

    /// Records the ending of a task, together with its delivery to the parent, and waits until both are on disk.
    pub(crate) async fn end(&self, outcome: TaskOutcome, parent: Option<(&Sink, &CallId)>) -> Result<(), JournalError> {
        let mut entries = vec![self.entry(Fact::TaskEnded { outcome: Box::new(outcome) })];
        if let Some((parent, call)) = parent {
            let (call, child) = (call.clone(), self.job.task);
            entries.push(parent.entry(Fact::ChildEnded { call, child, child_leg: FIRST_LEG }));
        }
        self.journal.append(entries, Durability::Synced).await
    }

    fn entry(&self, fact: Fact) -> Entry {
        Entry { task_id: self.job.task, leg: FIRST_LEG, attempt: FIRST_ATTEMPT, time: self.clock.now(), fact }
    }
}
