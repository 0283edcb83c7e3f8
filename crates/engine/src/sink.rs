//! Where a task's facts go: stamped with the task, its leg and the time, and into the journal.

use std::sync::Arc;

use sortie_journal::{Durability, Entry, Journal, JournalError};
use sortie_protocol::{Fact, Job};

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

    /// Records that this task began a child, together with the child's own beginning: both or neither.
    pub(crate) async fn append_with(&self, fact: Fact, child: &Sink, child_fact: Fact) -> Result<(), JournalError> {
        self.journal.append(vec![child.entry(child_fact), self.entry(fact)], Durability::Ordered).await
    }

    fn entry(&self, fact: Fact) -> Entry {
        Entry {
            task_id: self.job.task,
            parent_id: self.job.parent,
            depth: self.job.config.depth,
            leg: FIRST_LEG,
            attempt: FIRST_ATTEMPT,
            time: self.clock.now(),
            fact,
        }
    }
}
