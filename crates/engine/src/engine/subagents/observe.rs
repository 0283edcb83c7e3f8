//! Observers of sub-agents: each reads the journal on a thread of its own, at its own pace.
//!
//! There is no queue. The journal is on disk already, and keeps everything in order. A slow or blocked observer falls
//! behind alone, costs no memory for what it has not read yet, and misses nothing. The engine never waits for it.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sortie_journal::{Journal, JournalError, Position, Scope};
use sortie_protocol::{Event, Fact, Job, Message, TaskId};

use super::Parameters;
use super::conversation::{Conversation, SubagentStatus};
use crate::tasks::observers::{Audience, Expected};

/// Events read at a time.
const BATCH: usize = 256;
/// Longest time in which a waiting thread notices that it should end.
const NOTICE: Duration = Duration::from_millis(100);

/// Observer of sub-agents. Both methods are optional.
///
/// Calls come one at a time, in the order of events. They may take any time. A call that panics is counted, and later
/// ones follow all the same.
pub trait SubagentObserver: Send + 'static {
    /// A sub-agent exists. This is on record before its first request is sent; no update of it comes earlier.
    fn on_added(&mut self, _id: TaskId, _parameters: &Parameters) {}

    /// Its conversation has grown, or its status has changed. `messages` are all messages so far; after a status other
    /// than active, nothing more comes.
    fn on_updated(&mut self, _id: TaskId, _messages: &[Message], _status: SubagentStatus) {}
}

/// An observer at work. Dropping it ends the observation after the call that is under way.
pub struct Observation<O> {
    journal: Arc<dyn Journal>,
    /// Position up to which to read before ending.
    until: Sender<Position>,
    thread: JoinHandle<(Observed<O>, Result<(), JournalError>)>,
}

/// An observer that has finished.
#[derive(Debug)]
pub struct Observed<O> {
    pub observer: O,
    /// Calls that panicked.
    pub panics: u64,
}

/// The observation could not begin, or not be finished. No task is affected.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("no thread could be started for an observer: {source}")]
    NoThread { source: io::Error },
    #[error("the thread of an observer broke down; this is a bug in Sortie")]
    Broken,
}

impl<O: SubagentObserver> Observation<O> {
    pub(super) fn start(journal: Arc<dyn Journal>, audience: &Audience, observer: O) -> Result<Self, ObserveError> {
        // Looked up first: tasks announced from the next line on come after it.
        let after = journal.end()?;
        let reading = Reading {
            journal: Arc::clone(&journal),
            expected: audience.join(),
            after,
            last: None,
            conversations: HashMap::new(),
            observed: Observed { observer, panics: 0 },
        };
        let (until, asked_until) = channel();
        let thread = std::thread::Builder::new()
            .name("observer".to_owned())
            .spawn(move || reading.run(&asked_until))
            .map_err(|source| ObserveError::NoThread { source })?;
        Ok(Self { journal, until, thread })
    }

    /// Blocks until the observer has seen everything up to now, and returns it. This includes every task whose outcome
    /// the engine has returned.
    pub fn finish(self) -> Result<Observed<O>, ObserveError> {
        let end = self.journal.end()?;
        // If the thread has ended already, the reason follows below.
        self.until.send(end).ok();
        let (observed, read) = self.thread.join().map_err(|_panic| ObserveError::Broken)?;
        read?;
        Ok(observed)
    }
}

struct Reading<O> {
    journal: Arc<dyn Journal>,
    expected: Arc<Expected>,
    after: Position,
    /// Position at which to end, once someone waits for the end.
    last: Option<Position>,
    /// Sub-agents that have not ended.
    conversations: HashMap<TaskId, Conversation>,
    observed: Observed<O>,
}

impl<O: SubagentObserver> Reading<O> {
    fn run(mut self, until: &Receiver<Position>) -> (Observed<O>, Result<(), JournalError>) {
        let read = self.read(until);
        (self.observed, read)
    }

    fn read(&mut self, until: &Receiver<Position>) -> Result<(), JournalError> {
        loop {
            // Asked before reading, so that everything written before `finish` was called is read.
            if self.is_over(until) {
                return Ok(());
            }
            let batch = self.journal.read_after(Scope::All, self.after, BATCH)?;
            if batch.is_empty() {
                if self.last.is_some() {
                    return Ok(());
                }
                self.journal.wait_beyond(self.after, NOTICE);
            }
            for (position, event) in batch {
                if self.is_over(until) {
                    return Ok(());
                }
                self.after = position;
                self.take(event);
            }
        }
    }

    fn is_over(&mut self, until: &Receiver<Position>) -> bool {
        match until.try_recv() {
            Ok(last) => self.last = Some(last),
            Err(TryRecvError::Disconnected) if self.last.is_none() => return true,
            Err(_) => {}
        }
        self.last.is_some_and(|last| self.after >= last)
    }

    fn take(&mut self, event: Event) {
        match event.fact {
            Fact::TaskStarted { job } => self.begin(*job),
            fact => self.follow(event.task_id, fact),
        }
    }

    fn begin(&mut self, job: Job) {
        let Some(asked) = self.expected.take(job.task) else { return };
        if job.config.depth == 0 {
            return; // A main agent: nobody delegated to it.
        }
        let conversation = Conversation::begin(&job.prompt, job.config.server_tools.note.as_deref());
        self.conversations.insert(job.task, conversation);
        let parameters = Parameters { description: asked.title, prompt: job.prompt, subagent_type: asked.agent };
        self.observed.call(|observer| observer.on_added(job.task, &parameters));
    }

    fn follow(&mut self, task: TaskId, fact: Fact) {
        let Some(conversation) = self.conversations.get_mut(&task) else { return };
        let Some(status) = conversation.take(fact) else { return };
        self.observed.call(|observer| observer.on_updated(task, conversation.messages(), status));
        if status.is_terminal() {
            self.conversations.remove(&task);
        }
    }
}

impl<O> Observed<O> {
    /// Keeps a panic within the call that caused it.
    fn call(&mut self, call: impl FnOnce(&mut O)) {
        if catch_unwind(AssertUnwindSafe(|| call(&mut self.observer))).is_err() {
            self.panics += 1;
        }
    }
}
