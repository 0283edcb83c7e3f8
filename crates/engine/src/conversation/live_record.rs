//! The record of a task that runs, which its log feeds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_protocol::{Fact, Job, Timestamp};
use sortie_sandbox::process::KeeperMark;

use crate::conversation::history::History;
use crate::conversation::task_record::{Stamp, TaskRecord};
use crate::log::writer::Follower;
use crate::messages::inbox::Inbox;

/// A record that grows with its log.
pub(crate) struct LiveRecord {
    record: Mutex<TaskRecord>,
    /// The mail of the record.
    pub(crate) inbox: Arc<Inbox>,
}

impl LiveRecord {
    /// Goes on with a record where it stands.
    pub(crate) fn of(mut record: TaskRecord) -> Arc<Self> {
        let inbox = Arc::new(Inbox::of(std::mem::take(&mut record.mail)));
        Arc::new(Self { record: Mutex::new(record), inbox })
    }

    /// Begins with a job.
    pub(crate) fn begin(job: &Arc<Job>) -> Arc<Self> {
        Self::of(TaskRecord::begin(job, Stamp { leg: 1, time: Timestamp(0) }))
    }

    /// Takes another record in place of this one; the inbox stays as it is.
    pub(crate) fn replace(&self, record: TaskRecord) {
        *self.lock() = record;
    }

    /// Looks at the record as it is now. The log does not feed it meanwhile, so this is for a moment.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&TaskRecord) -> T) -> T {
        at(&self.lock())
    }

    /// Takes the marks of commands that may still run, for whoever ends these.
    pub(crate) fn take_keepers(&self) -> Vec<KeeperMark> {
        std::mem::take(&mut self.lock().keepers)
    }

    /// Begins again, with a job that was changed before its task was started.
    pub(crate) fn begin_again(&self, job: &Arc<Job>) {
        *self.lock() = TaskRecord::begin(job, Stamp { leg: 1, time: Timestamp(0) });
    }

    fn lock(&self) -> MutexGuard<'_, TaskRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation as it is now. It is copied should it grow while somebody has this.
    pub(crate) fn history(&self) -> Arc<History> {
        self.look(|record| Arc::clone(&record.history))
    }

    /// What the leg has come to so far, in words.
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
    /// Fails where this is not what has been read back from the log.
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
