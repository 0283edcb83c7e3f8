//! The record of a running task, which its log feeds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_protocol::{Fact, Job, Message, Timestamp};
use sortie_sandbox::process::KeeperMark;

use crate::conversation::history::History;
use crate::conversation::task_record::{Stamp, TaskRecord};
use crate::log::writer::Follower;
use crate::messages::inbox::Inbox;

/// A record that grows with its log.
pub(crate) struct LiveRecord {
    record: Mutex<TaskRecord>,
    /// The inbox of the record.
    pub(crate) inbox: Arc<Inbox>,
}

impl LiveRecord {
    /// Continues a record from where it stands.
    pub(crate) fn of(mut record: TaskRecord) -> Arc<Self> {
        let inbox = Arc::new(Inbox::of(std::mem::take(&mut record.mail)));
        Arc::new(Self { record: Mutex::new(record), inbox })
    }

    /// Starts with a new job, and the messages that it inherits from its parent.
    pub(crate) fn begin(job: &Arc<Job>, inherited: &[Message]) -> Arc<Self> {
        Self::of(TaskRecord::begin(job, inherited, Stamp { leg: 1, time: Timestamp(0) }))
    }

    /// Replaces the record, and keeps the inbox.
    pub(crate) fn replace(&self, record: TaskRecord) {
        *self.lock() = record;
    }

    /// Reads the record as it is now. The log cannot feed it meanwhile, so `at` must be short.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&TaskRecord) -> T) -> T {
        at(&self.lock())
    }

    /// Takes the marks of commands that may still run, for the caller to end them.
    pub(crate) fn take_keepers(&self) -> Vec<KeeperMark> {
        std::mem::take(&mut self.lock().keepers)
    }

    /// Starts again, with a job that was changed before its task started.
    pub(crate) fn begin_again(&self, job: &Arc<Job>) {
        let mut record = self.lock();
        let begun = TaskRecord::begin(job, record.history.inherited(), Stamp { leg: 1, time: Timestamp(0) });
        *record = begun;
    }

    fn lock(&self) -> MutexGuard<'_, TaskRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the conversation as it is now. It is copied if it grows while the caller holds this.
    pub(crate) fn history(&self) -> Arc<History> {
        self.look(|record| Arc::clone(&record.history))
    }

    /// Returns the leg's text so far.
    pub(crate) fn last_text(&self) -> String {
        self.look(|record| record.history.last_text())
    }
}

impl Follower for LiveRecord {
    fn follow(&self, fact: Fact, time: Timestamp) {
        self.inbox.apply(&fact);
        let mut record = self.lock();
        let leg = record.leg;
        record.apply(fact, Stamp { leg, time });
    }

    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

#[cfg(test)]
impl LiveRecord {
    /// Fails unless this equals the record read back from the log.
    pub(crate) fn assert_is(&self, read: &TaskRecord) {
        let live = self.lock();
        assert_eq!((&live.job, live.first(), live.leg), (&read.job, read.first(), read.leg));
        assert_eq!(live.history, read.history);
        assert_eq!((&live.open, &live.said, &live.last_word), (&read.open, &read.said, &read.last_word));
        assert_eq!((live.limit, &live.ended), (read.limit, &read.ended));
        assert_eq!(live.worked.known(), read.worked.known());
        assert_eq!(live.totals, read.totals);
        assert_eq!((&live.keepers, &live.shells), (&read.keepers, &read.shells));
        assert_eq!(live.reminded_of, read.reminded_of);
        self.inbox.assert_is(&read.mail);
    }
}
