//! Where a task's facts go: stamped with the task, its leg and the time, and into the journal.

use std::sync::Arc;

use sortie_journal::{Durability, Entry, Journal, JournalError};
use sortie_protocol::{CallId, Fact, Job, TaskOutcome};

use crate::Clock;

/// Which run of a task's loop writes, and for which of its legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    /// A takeover writes under a higher number, and shuts all lower ones out.
    pub(crate) attempt: u32,
    pub(crate) leg: u32,
}

impl Hold {
    /// Of a task that is new.
    pub(crate) const FIRST: Self = Self { attempt: 1, leg: 1 };
}

/// One task's way into the journal.
#[derive(Clone)]
pub(crate) struct Sink {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    job: Arc<Job>,
    hold: Hold,
}

impl Sink {
    pub(crate) fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>, job: Arc<Job>, hold: Hold) -> Self {
        Self { journal, clock, job, hold }
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

    /// Records that a task goes on, together with the word of it in the log of a parent that asked for it, and waits
    /// until both are on disk: from here on no earlier attempt writes any more. Refused is what others have gone on with
    /// since the log was read up to `read`.
    pub(crate) async fn resume(
        &self,
        (prompt, notices): (Option<String>, Vec<String>),
        read: u64,
        parent: Option<(&Sink, &CallId)>,
    ) -> Result<(), JournalError> {
        let mut entries = vec![self.takeover((prompt, notices), read)];
        if let Some((parent, call)) = parent {
            entries.push(parent.entry(Fact::ChildStarted { call: call.clone(), child: self.job.task }));
        }
        self.journal.append(entries, Durability::Synced).await
    }

    /// Records the ending of a task, together with its delivery to the parent, and waits until both are on disk.
    pub(crate) async fn end(&self, outcome: TaskOutcome, parent: Option<(&Sink, &CallId)>) -> Result<(), JournalError> {
        let mut entries = vec![self.entry(Fact::TaskEnded { outcome: Box::new(outcome) })];
        if let Some((parent, call)) = parent {
            entries.push(self.word_for(parent, call.clone()));
        }
        self.journal.append(entries, Durability::Synced).await
    }

    /// A task is taken, from whoever had it: the first that a new attempt writes.
    pub(crate) fn takeover(&self, (prompt, notices): (Option<String>, Vec<String>), read: u64) -> Entry {
        let config = Box::new(self.job.config.clone());
        Entry { after: Some(read), ..self.entry(Fact::TaskResumed { prompt, config, notices }) }
    }

    /// The word of this task's ending in the log of the parent whose call it answers.
    pub(crate) fn word_for(&self, parent: &Sink, call: CallId) -> Entry {
        parent.entry(Fact::ChildEnded { call, child: self.job.task, child_leg: self.hold.leg })
    }

    /// A fact as it is written in its place in the order.
    pub(crate) fn entry(&self, fact: Fact) -> Entry {
        let Hold { attempt, leg } = self.hold;
        Entry { task_id: self.job.task, leg, attempt, time: self.clock.now(), after: None, fact }
    }
}
