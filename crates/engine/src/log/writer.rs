//! Where a task's facts go: stamped with the task, its leg and the time, and into the journal.

use std::sync::{Arc, OnceLock};

use sortie_journal::{Durability, Entry, Journal, JournalError};
use sortie_protocol::{CallId, Event, Fact, Job, TaskId, TaskOutcome, Timestamp};
use sortie_sandbox::SpillDir;

use crate::Clock;
use crate::log::activity::LatestActivity;
use crate::log::progress_file::ProgressFile;

/// Which run of a task's loop writes, and for which of its legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LegHold {
    /// A takeover writes under a higher number, and shuts all lower ones out.
    pub(crate) attempt: u32,
    pub(crate) leg: u32,
}

impl LegHold {
    /// Of a task that is new.
    pub(crate) const FIRST: Self = Self { attempt: 1, leg: 1 };
}

/// Keeps up with the log of a task that runs here.
pub(crate) trait Follower: Send + Sync {
    /// Takes in a fact that the log has taken.
    fn follow(&self, fact: Fact, time: Timestamp);

    /// The follower itself, to be looked at.
    #[cfg(test)]
    fn as_any(&self) -> &dyn std::any::Any;
}

/// One task's way into the journal.
#[derive(Clone)]
pub(crate) struct FactWriter {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    job: Arc<Job>,
    hold: LegHold,
    latest_activity: Arc<LatestActivity>,
    /// For people who follow a task in the background.
    output: Arc<OnceLock<ProgressFile>>,
    follower: Arc<OnceLock<Arc<dyn Follower>>>,
}

/// Facts of several tasks that are recorded together: all of them or none.
#[derive(Default)]
pub(crate) struct Batch {
    entries: Vec<Entry>,
    followed: Followed,
}

/// Facts under way into the log, for those that follow it. They hear of these when this is dropped, so that no fact is
/// missed whose writer is dropped while it waits.
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
    /// Adds a fact of the task that this sink is of.
    pub(crate) fn add(&mut self, sink: &FactWriter, fact: Fact) {
        let followed = sink.follower.get().map(|follower| (Arc::clone(follower), fact.clone()));
        let entry = sink.entry(fact);
        self.followed.0.extend(followed.map(|(follower, fact)| (follower, fact, entry.time)));
        self.entries.push(entry);
    }

    /// Records all of them.
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

/// How a task is gone on with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Takeover {
    pub(crate) prompt: Option<String>,
    pub(crate) notices: Vec<String>,
    /// Nobody above has a part in it.
    pub(crate) alone: bool,
}

impl Takeover {
    /// The fact that a task goes on so, with the configuration of this job.
    pub(crate) fn fact(self, job: &Job) -> Fact {
        let Self { prompt, notices, alone } = self;
        let alone = alone && job.parent.is_some();
        Fact::TaskResumed { prompt, config: Box::new(job.config.clone()), notices, alone }
    }
}

/// The word of a child in the log of the one who asked for it.
#[derive(Clone, Copy)]
pub(crate) struct ParentEntry<'a> {
    pub(crate) sink: &'a FactWriter,
    pub(crate) call: &'a CallId,
    /// Whether that call waits for the child's end.
    pub(crate) waits: bool,
}

/// A child that goes over to the parent of a task that has ended before it.
#[derive(Debug)]
pub(crate) struct Orphan {
    pub(crate) child: TaskId,
    pub(crate) ended_leg: Option<u32>,
    /// What it has asked, for the one who has it now.
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

    /// The same, before anything was written.
    pub(crate) fn with_job(&self, job: Arc<Job>) -> Self {
        Self { job, ..self.clone() }
    }

    /// From here on, all that the log takes is told to this one.
    pub(crate) fn feed(&self, follower: Arc<dyn Follower>) {
        self.follower.set(follower).ok();
    }

    /// Whoever keeps up with the log.
    #[cfg(test)]
    pub(crate) fn follower(&self) -> Option<Arc<dyn Follower>> {
        self.follower.get().cloned()
    }

    /// What the task did last.
    pub(crate) fn latest_activity(&self) -> &LatestActivity {
        &self.latest_activity
    }

    /// From here on what happens is told in a file, too, for people, unless it is already; behind what happened
    /// `before`. What to say if it cannot be.
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

    /// The same where an earlier leg was told in a file: whoever looks there finds what came of it.
    pub(crate) fn tell_further(&self, reports: &SpillDir) -> Option<String> {
        match ProgressFile::reopen(reports, self.job.task) {
            Ok(output) => {
                output.map(|output| self.output.set(output).ok());
                None
            }
            Err(error) => Some(format!("the output file does not go on: {error}")),
        }
    }

    /// Where it is told.
    pub(crate) fn output_path(&self) -> Option<String> {
        self.output.get().map(|output| output.path().display().to_string())
    }

    /// What to say of that file, if it is not whole.
    pub(crate) fn output_failure(&self) -> Option<String> {
        self.output.get().and_then(ProgressFile::failure).map(str::to_owned)
    }

    pub(crate) fn task(&self) -> TaskId {
        self.job.task
    }

    pub(crate) fn leg(&self) -> u32 {
        self.hold.leg
    }

    /// The attempt cannot go on: the journal has not taken what it would have to tell of.
    pub(crate) fn shut_out(&self, why: &JournalError) {
        self.journal.shut_out(self.job.task, self.hold.attempt, why);
    }

    /// The attempt has ended, and the journal has not taken its ending.
    pub(crate) fn forsake(&self, why: &JournalError) {
        self.journal.forsake(self.job.task, self.hold.attempt, why);
    }

    /// Records a fact in its place in the order.
    pub(crate) async fn append(&self, fact: Fact) -> Result<(), JournalError> {
        self.write(fact, Durability::Ordered).await
    }

    /// Records a fact and waits until it is on disk.
    pub(crate) async fn append_synced(&self, fact: Fact) -> Result<(), JournalError> {
        self.write(fact, Durability::Synced).await
    }

    async fn write(&self, fact: Fact, durability: Durability) -> Result<(), JournalError> {
        let mut batch = Batch::default();
        batch.add(self, fact);
        batch.append(self.journal.as_ref(), durability).await
    }

    /// Records the beginning of a task, together with its parent's word of it: both or neither.
    ///
    /// One that was delegated from outside is on disk when this returns: whoever did so may be told its id and ask for
    /// it at once.
    pub(crate) async fn begin(&self, parent: Option<ParentEntry<'_>>) -> Result<(), JournalError> {
        let is_from_outside = self.job.parent.is_none() && self.job.config.depth > 0;
        let durability = if is_from_outside { Durability::Synced } else { Durability::Ordered };
        let mut batch = Batch::default();
        batch.add(self, Fact::TaskStarted { job: Box::new(Job::clone(&self.job)) });
        self.start_at(parent, &mut batch);
        batch.append(self.journal.as_ref(), durability).await
    }

    /// Records that a task goes on, together with the word of it in the log of a parent that asked for it, and waits
    /// until both are on disk: from here on no earlier attempt writes any more. Refused is what others have gone on
    /// with since the log was read up to `read`.
    pub(crate) async fn resume(
        &self,
        takeover: Takeover,
        read: u64,
        parent: Option<ParentEntry<'_>>,
    ) -> Result<(), JournalError> {
        // Who goes on with the task has taken this one in: it begins with what came of it.
        let mut batch = Batch { entries: vec![self.takeover(takeover, read)], ..Batch::default() };
        self.start_at(parent, &mut batch);
        batch.append(self.journal.as_ref(), Durability::Synced).await
    }

    /// Records the ending of a task, together with its delivery to the parent, who gets the orphans, and waits until
    /// all of it is on disk.
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

    /// Tells the follower of a fact that the log has taken by another way.
    pub(crate) fn tell_follower(&self, fact: Fact, time: Timestamp) {
        if let Some(follower) = self.follower.get() {
            follower.follow(fact, time);
        }
    }

    /// A task is taken, from whoever had it: the first that a new attempt writes, where the log was read so far.
    pub(crate) fn takeover(&self, takeover: Takeover, read: u64) -> Entry {
        Entry { after: Some(read), ..self.entry(takeover.fact(&self.job)) }
    }

    /// The word of this task's ending for the log of the parent whose call it answers.
    pub(crate) fn word_of_end(&self, call: CallId) -> Fact {
        Fact::ChildEnded { call, child: self.job.task, child_leg: self.hold.leg }
    }

    /// A fact as it is written in its place in the order.
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
