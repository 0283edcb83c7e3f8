//! The writer of one task's facts: it adds task, leg and time, and appends to the journal.

use std::sync::{Arc, OnceLock};

use sortie_journal::{Durability, Entry, Journal, JournalError};
use sortie_protocol::{CallId, Event, Fact, Job, TaskId, TaskOutcome, Timestamp};
use sortie_sandbox::SpillDir;

use crate::Clock;
use crate::log::activity::LatestActivity;
use crate::log::progress_file::ProgressFile;

/// The attempt that writes a task's log, and the leg it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LegHold {
    /// A takeover writes under a higher number, which shuts out all lower ones.
    pub(crate) attempt: u32,
    pub(crate) leg: u32,
}

impl LegHold {
    /// The first leg of a new task.
    pub(crate) const FIRST: Self = Self { attempt: 1, leg: 1 };
}

/// Observer that follows the log of a task in this process.
pub(crate) trait Follower: Send + Sync {
    /// Receives a fact that the log has accepted.
    fn follow(&self, fact: Fact, time: Timestamp);

    /// The concrete follower, for tests.
    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any;
}

/// One task's access to the journal.
#[derive(Clone)]
pub(crate) struct FactWriter {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    job: Arc<Job>,
    hold: LegHold,
    latest_activity: Arc<LatestActivity>,
    /// Progress file for people who follow a background task.
    output: Arc<OnceLock<ProgressFile>>,
    follower: Arc<OnceLock<Arc<dyn Follower>>>,
}

/// Facts of several tasks that are written together: all of them or none.
#[derive(Default)]
pub(crate) struct Batch {
    entries: Vec<Entry>,
    followed: Followed,
}

/// Facts on their way into the log, for the followers. Followers receive them when this is dropped, so that no fact is
/// missed if its writer is dropped while it waits.
#[derive(Default)]
struct Followed(Vec<(Arc<dyn Follower>, Fact, Timestamp)>);

impl Drop for Followed {
    fn drop(&mut self) {
        for (follower, fact, time) in self.0.drain(..) {
            follower.follow(fact, time);
        }
    }
}

impl Batch {
    /// Adds a fact of the sink's task.
    pub(crate) fn add(&mut self, sink: &FactWriter, fact: Fact) {
        let followed = sink.follower.get().map(|follower| (Arc::clone(follower), fact.clone()));
        let entry = sink.entry(fact);
        self.followed.0.extend(followed.map(|(follower, fact)| (follower, fact, entry.time)));
        self.entries.push(entry);
    }

    /// Appends all facts to the journal.
    pub(crate) async fn append(self, journal: &dyn Journal, durability: Durability) -> Result<(), JournalError> {
        let Self { entries, mut followed } = self;
        if entries.is_empty() {
            return Ok(());
        }
        let written = journal.append(entries, durability).await;
        if written.is_err() {
            followed.0.clear();
        }
        written
    }
}

/// Parameters of a resumption.
#[derive(Debug, Clone, Default)]
pub(crate) struct Takeover {
    pub(crate) prompt: Option<String>,
    /// Title of the call that resumes the task.
    pub(crate) title: Option<String>,
    pub(crate) notices: Vec<String>,
    /// True if no task above takes part in this leg.
    pub(crate) alone: bool,
}

impl Takeover {
    /// Returns the fact that resumes the task, with this job's configuration.
    pub(crate) fn fact(self, job: &Job) -> Fact {
        let Self { prompt, title, notices, alone } = self;
        let alone = alone && job.parent.is_some();
        Fact::TaskResumed { prompt, title, config: Box::new(job.config.clone()), notices, alone }
    }
}

/// A child's entry in the log of the task that started it.
#[derive(Clone, Copy)]
pub(crate) struct ParentEntry<'a> {
    pub(crate) sink: &'a FactWriter,
    pub(crate) call: &'a CallId,
    /// True if that call waits for the child's end.
    pub(crate) waits: bool,
}

/// A background child of a task that has ended, handed to the task above.
#[derive(Debug)]
pub(crate) struct Orphan {
    pub(crate) child: TaskId,
    pub(crate) ended_leg: Option<u32>,
    /// Its open questions, for its new parent.
    pub(crate) messages: Vec<Fact>,
}

impl FactWriter {
    pub(crate) fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>, job: Arc<Job>, hold: LegHold) -> Self {
        Self {
            journal,
            clock,
            job,
            hold,
            latest_activity: Arc::default(),
            output: Arc::default(),
            follower: Arc::default(),
        }
    }

    /// Returns this writer with another job, before anything was written.
    pub(crate) fn with_job(&self, job: Arc<Job>) -> Self {
        Self { job, ..self.clone() }
    }

    /// Sets the follower that receives all further facts.
    pub(crate) fn feed(&self, follower: Arc<dyn Follower>) {
        self.follower.set(follower).ok();
    }

    /// The follower of the log, for tests.
    #[cfg(test)]
    pub(crate) fn follower(&self) -> Option<Arc<dyn Follower>> {
        self.follower.get().cloned()
    }

    /// Latest activity of the task.
    pub(crate) fn latest_activity(&self) -> &LatestActivity {
        &self.latest_activity
    }

    /// Starts the progress file, unless there is one, with the events `before` at its beginning. Returns a notice if it
    /// cannot be written.
    pub(crate) fn tell_in(&self, reports: &SpillDir, before: &[Event]) -> Option<String> {
        if self.output.get().is_some() {
            return None;
        }
        let output = match ProgressFile::open(reports, self.job.task) {
            Ok(output) => output,
            Err(error) => return Some(format!("there is no output file: {error}")),
        };
        for event in before {
            output.see(&event.fact, event.time);
        }
        self.output.set(output).ok();
        None
    }

    /// Continues the progress file of an earlier leg, if there is one, so that its readers see the rest.
    pub(crate) fn tell_further(&self, reports: &SpillDir) -> Option<String> {
        match ProgressFile::reopen(reports, self.job.task) {
            Ok(output) => {
                output.map(|output| self.output.set(output).ok());
                None
            }
            Err(error) => Some(format!("the output file could not be continued: {error}")),
        }
    }

    /// Path of the progress file.
    pub(crate) fn output_path(&self) -> Option<String> {
        self.output.get().map(|output| output.path().display().to_string())
    }

    /// Notice about an incomplete progress file.
    pub(crate) fn output_failure(&self) -> Option<String> {
        self.output.get().and_then(ProgressFile::failure).map(str::to_owned)
    }

    pub(crate) fn task(&self) -> TaskId {
        self.job.task
    }

    pub(crate) fn leg(&self) -> u32 {
        self.hold.leg
    }

    /// Ends the attempt, because the journal has not accepted a fact that it needs.
    pub(crate) fn shut_out(&self, why: &JournalError) {
        self.journal.shut_out(self.job.task, self.hold.attempt, why);
    }

    /// Notes that the attempt has ended, though the journal has not accepted its ending.
    pub(crate) fn forsake(&self, why: &JournalError) {
        self.journal.forsake(self.job.task, self.hold.attempt, why);
    }

    /// Appends a fact in order.
    pub(crate) async fn append(&self, fact: Fact) -> Result<(), JournalError> {
        self.write(fact, Durability::Ordered).await
    }

    /// Appends a fact and waits until it is on disk.
    pub(crate) async fn append_synced(&self, fact: Fact) -> Result<(), JournalError> {
        self.write(fact, Durability::Synced).await
    }

    async fn write(&self, fact: Fact, durability: Durability) -> Result<(), JournalError> {
        let mut batch = Batch::default();
        batch.add(self, fact);
        batch.append(self.journal.as_ref(), durability).await
    }

    /// Writes the start of a task together with its parent's entry: both or neither.
    ///
    /// A task that was delegated from outside is on disk when this returns, since its caller may learn the id and query
    /// it at once.
    pub(crate) async fn begin(&self, parent: Option<ParentEntry<'_>>) -> Result<(), JournalError> {
        let is_from_outside = self.job.parent.is_none() && self.job.config.depth > 0;
        let durability = if is_from_outside { Durability::Synced } else { Durability::Ordered };
        let mut batch = Batch::default();
        batch.add(self, Fact::TaskStarted { job: Box::new(Job::clone(&self.job)) });
        self.start_at(parent, &mut batch);
        batch.append(self.journal.as_ref(), durability).await
    }

    /// Writes that a task resumes, together with the entry of a parent that asked for it, and waits until both are on
    /// disk. From here on no earlier attempt can write. Fails if another process has resumed the task since the log was
    /// read up to `read`.
    pub(crate) async fn resume(
        &self,
        takeover: Takeover,
        read: u64,
        parent: Option<ParentEntry<'_>>,
    ) -> Result<(), JournalError> {
        // Not passed to the follower: the resumed record already includes it.
        let mut batch = Batch { entries: vec![self.takeover(takeover, read)], ..Batch::default() };
        self.start_at(parent, &mut batch);
        batch.append(self.journal.as_ref(), Durability::Synced).await
    }

    /// Writes the ending of a task together with its delivery to the parent, and waits until both are on disk. The
    /// parent gets the orphans.
    pub(crate) async fn end(
        &self,
        outcome: TaskOutcome,
        parent: Option<ParentEntry<'_>>,
        orphans: Vec<Orphan>,
    ) -> Result<(), JournalError> {
        let mut batch = Batch::default();
        batch.add(self, Fact::TaskEnded { outcome: Box::new(outcome) });
        if let Some(ParentEntry { sink, call, .. }) = parent {
            batch.add(sink, self.word_of_end(call.clone()));
            for Orphan { child, ended_leg, messages } in orphans {
                let adopted = Fact::ChildAdopted { child, ended_leg };
                [adopted].into_iter().chain(messages).for_each(|fact| batch.add(sink, fact));
            }
        }
        batch.append(self.journal.as_ref(), Durability::Synced).await
    }

    fn start_at(&self, parent: Option<ParentEntry<'_>>, batch: &mut Batch) {
        if let Some(ParentEntry { sink, call, waits }) = parent {
            batch.add(sink, Fact::ChildStarted { call: call.clone(), child: self.job.task, background: !waits });
        }
    }

    /// Passes the follower a fact that reached the log by another way.
    pub(crate) fn tell_follower(&self, fact: Fact, time: Timestamp) {
        if let Some(follower) = self.follower.get() {
            follower.follow(fact, time);
        }
    }

    /// Returns the first entry of a new attempt. It takes the task over, unless the log has grown since it was read up
    /// to `read`.
    pub(crate) fn takeover(&self, takeover: Takeover, read: u64) -> Entry {
        Entry { after: Some(read), ..self.entry(takeover.fact(&self.job)) }
    }

    /// Returns the fact of this task's ending for the log of the parent whose call it answers.
    pub(crate) fn word_of_end(&self, call: CallId) -> Fact {
        Fact::ChildEnded { call, child: self.job.task, child_leg: self.hold.leg }
    }

    /// Returns the entry of a fact, and shows the fact to the views.
    pub(crate) fn entry(&self, fact: Fact) -> Entry {
        self.latest_activity.see(&fact);
        let time = self.clock.now();
        if let Some(output) = self.output.get() {
            output.see(&fact, time);
        }
        let LegHold { attempt, leg } = self.hold;
        Entry { task_id: self.job.task, leg, attempt, time, after: None, fact }
    }
}
