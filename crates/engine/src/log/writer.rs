//! Where a task's facts go: stamped with the task, its leg and the time, and into the journal.

use std::sync::{Arc, OnceLock};

use sortie_journal::{Durability, Entry, Journal, JournalError};
use sortie_protocol::{CallId, Event, Fact, Job, TaskId, TaskOutcome};
use sortie_sandbox::SpillDir;

use crate::Clock;
use crate::log::activity::Lately;
use crate::log::progress_file::OutputFile;

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
    lately: Arc<Lately>,
    /// For people who follow a task in the background.
    output: Arc<OnceLock<OutputFile>>,
}

/// The word of a child in the log of the one who asked for it.
#[derive(Clone, Copy)]
pub(crate) struct ParentsWord<'a> {
    pub(crate) sink: &'a Sink,
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

impl Sink {
    pub(crate) fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>, job: Arc<Job>, hold: Hold) -> Self {
        Self { journal, clock, job, hold, lately: Arc::default(), output: Arc::default() }
    }

    /// The same, before anything was written.
    pub(crate) fn with_job(&self, job: Arc<Job>) -> Self {
        Self { job, ..self.clone() }
    }

    /// What the task did last.
    pub(crate) fn lately(&self) -> &Lately {
        &self.lately
    }

    /// From here on what happens is told in a file, too, for people, unless it is already; behind what happened `before`. What
    /// to say if it cannot be.
    pub(crate) fn tell_in(&self, reports: &SpillDir, before: &[Event]) -> Option<String> {
        if self.output.get().is_some() {
            return None;
        }
        let output = match OutputFile::open(reports, self.job.task) {
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
        match OutputFile::reopen(reports, self.job.task) {
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
        self.output.get().and_then(OutputFile::failure).map(str::to_owned)
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
        self.journal.append(vec![self.entry(fact)], Durability::Ordered).await
    }

    /// Records a fact and waits until it is on disk.
    pub(crate) async fn append_synced(&self, fact: Fact) -> Result<(), JournalError> {
        self.journal.append(vec![self.entry(fact)], Durability::Synced).await
    }

    /// Records the beginning of a task, together with its parent's word of it: both or neither.
    ///
    /// One that was delegated from outside is on disk when this returns: whoever did so may be told its id and ask for it at
    /// once.
    pub(crate) async fn begin(&self, parent: Option<ParentsWord<'_>>) -> Result<(), JournalError> {
        let is_from_outside = self.job.parent.is_none() && self.job.config.depth > 0;
        let durability = if is_from_outside { Durability::Synced } else { Durability::Ordered };
        let mut entries = vec![self.entry(Fact::TaskStarted { job: Box::new(Job::clone(&self.job)) })];
        entries.extend(parent.map(|parent| self.start_at(parent)));
        self.journal.append(entries, durability).await
    }

    /// Records that a task goes on, together with the word of it in the log of a parent that asked for it, and waits
    /// until both are on disk: from here on no earlier attempt writes any more. Refused is what others have gone on with
    /// since the log was read up to `read`.
    pub(crate) async fn resume(
        &self,
        (prompt, notices): (Option<String>, Vec<String>),
        (read, alone): (u64, bool),
        parent: Option<ParentsWord<'_>>,
    ) -> Result<(), JournalError> {
        let mut entries = vec![self.takeover((prompt, notices), (read, alone))];
        entries.extend(parent.map(|parent| self.start_at(parent)));
        self.journal.append(entries, Durability::Synced).await
    }

    /// Records the ending of a task, together with its delivery to the parent, who gets the orphans, and waits until all of
    /// it is on disk.
    pub(crate) async fn end(
        &self,
        outcome: TaskOutcome,
        parent: Option<ParentsWord<'_>>,
        orphans: Vec<Orphan>,
    ) -> Result<(), JournalError> {
        let mut entries = vec![self.entry(Fact::TaskEnded { outcome: Box::new(outcome) })];
        if let Some(ParentsWord { sink, call, .. }) = parent {
            entries.push(self.word_for(sink, call.clone()));
            for Orphan { child, ended_leg, messages } in orphans {
                let adopted = Fact::ChildAdopted { child, ended_leg };
                entries.extend([adopted].into_iter().chain(messages).map(|fact| sink.entry(fact)));
            }
        }
        self.journal.append(entries, Durability::Synced).await
    }

    fn start_at(&self, ParentsWord { sink, call, waits }: ParentsWord<'_>) -> Entry {
        sink.entry(Fact::ChildStarted { call: call.clone(), child: self.job.task, background: !waits })
    }

    /// A task is taken, from whoever had it: the first that a new attempt writes. `alone`: nobody above has a part in it.
    pub(crate) fn takeover(
        &self,
        (prompt, notices): (Option<String>, Vec<String>),
        (read, alone): (u64, bool),
    ) -> Entry {
        let config = Box::new(self.job.config.clone());
        let alone = alone && self.job.parent.is_some();
        Entry { after: Some(read), ..self.entry(Fact::TaskResumed { prompt, config, notices, alone }) }
    }

    /// The word of this task's ending in the log of the parent whose call it answers.
    pub(crate) fn word_for(&self, parent: &Sink, call: CallId) -> Entry {
        parent.entry(Fact::ChildEnded { call, child: self.job.task, child_leg: self.hold.leg })
    }

    /// A fact as it is written in its place in the order.
    pub(crate) fn entry(&self, fact: Fact) -> Entry {
        self.lately.see(&fact);
        let time = self.clock.now();
        if let Some(output) = self.output.get() {
            output.see(&fact, time);
        }
        let Hold { attempt, leg } = self.hold;
        Entry { task_id: self.job.task, leg, attempt, time, after: None, fact }
    }
}
