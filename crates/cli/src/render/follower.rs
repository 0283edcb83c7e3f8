//! Thread that reads a run's events from the journal and hands them to a display.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sortie_journal::{Journal, JournalError, Position, Scope};
use sortie_protocol::{Event, Fact, Job, TaskId};
use tokio_util::sync::CancellationToken;

use super::Display;
use crate::error;
use crate::error::long_wait::LONG_WAIT;

/// Refresh interval of displays: ten times a second.
const FRAME: Duration = Duration::from_millis(100);
const BATCH: usize = 512;

/// Delay between an event and its display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As soon as it is in the journal.
    AtOnce,
    /// With the next frame, which is soon enough for eyes, and cheap.
    Framed,
}

/// Display and its pace.
pub(crate) struct View {
    pub(crate) pace: Pace,
    pub(crate) display: Box<dyn Display>,
}

/// Reason why a display ended before its run.
#[derive(Debug)]
pub(crate) enum FollowError {
    /// The output was closed, or cannot be written.
    Output(io::Error),
    Journal(JournalError),
}

/// Running display.
pub(crate) struct Follower {
    /// Dropped when the run is over.
    run: Sender<Infallible>,
    thread: JoinHandle<(Box<dyn Display>, Result<(), FollowError>)>,
    failed: CancellationToken,
}

impl Follower {
    /// Shows the events in the tree of `job` after `after`, until the run ends.
    pub(crate) fn start(
        journal: Arc<dyn Journal>,
        after: Position,
        job: &Job,
        View { pace, display }: View,
    ) -> io::Result<Self> {
        let (run, over) = channel();
        let failed = CancellationToken::new();
        let failure = failed.clone();
        let mut following = Following { journal, after, root: job.root, task: job.task, ended: false, display };
        let thread = std::thread::Builder::new().name("display".to_owned()).spawn(move || {
            let followed = following.run(&over, pace);
            if followed.is_err() {
                failure.cancel();
            }
            (following.display, followed)
        })?;
        Ok(Self { run, thread, failed })
    }

    /// Resolves if the display fails, otherwise never.
    pub(crate) async fn failed(&self) {
        self.failed.cancelled().await;
    }

    /// Shows the remaining events of a finished run and returns the display; `None` if it broke.
    pub(crate) fn join(self) -> Option<(Box<dyn Display>, Result<(), FollowError>)> {
        drop(self.run);
        self.thread.join().ok()
    }
}

struct Following {
    journal: Arc<dyn Journal>,
    after: Position,
    /// Root of the tree that the task belongs to.
    root: TaskId,
    task: TaskId,
    ended: bool,
    display: Box<dyn Display>,
}

impl Following {
    fn run(&mut self, over: &Receiver<Infallible>, pace: Pace) -> Result<(), FollowError> {
        let mut silent_since = Some(Instant::now());
        loop {
            // Checked before reading, so that everything written before the end is read.
            let over_now = over.try_recv() == Err(TryRecvError::Disconnected);
            let batch =
                self.journal.read_after(Scope::Tree(self.root), self.after, BATCH).map_err(FollowError::Journal)?;
            let more = batch.len() == BATCH;
            // The first event comes with the start of the run. Without it, nothing can be written.
            if !batch.is_empty() {
                silent_since = None;
            } else if silent_since.take_if(|since| since.elapsed() >= LONG_WAIT).is_some() {
                error::note("waiting for the journal, which another program seems to have locked");
            }
            for (position, event) in batch {
                self.after = position;
                self.take(&event).map_err(FollowError::Output)?;
            }
            self.display.refresh().map_err(FollowError::Output)?;
            if more {
                continue;
            }
            if over_now || self.ended {
                return Ok(());
            }
            match pace {
                Pace::AtOnce => self.journal.wait_beyond(self.after, FRAME),
                // Ends together with the run.
                Pace::Framed => over.recv_timeout(FRAME).map_or((), |never| match never {}),
            }
        }
    }

    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.ended |= event.task_id == self.task && matches!(event.fact, Fact::TaskEnded { .. });
        self.display.show(event)
    }
}
