//! The end of a task's time: its own limit, or that of the task it belongs to.
//!
//! An adopted child follows its adopter's deadline, so the moment must be read anew each time. It only ever moves
//! later: an adopter stands higher in the tree and has no less time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Shortest time in which a person can read a question and answer it.
const SHORTEST: Duration = Duration::from_secs(2);

/// The deadline of one task.
#[derive(Debug)]
pub(crate) struct Deadline {
    own: Option<Instant>,
    above: Mutex<Option<Arc<Deadline>>>,
}

impl Deadline {
    pub(crate) fn new(own: Option<Instant>, above: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { own, above: Mutex::new(above) })
    }

    /// Returns the current deadline; `None` is never.
    pub(crate) fn at(&self) -> Option<Instant> {
        let above = self.above.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.own.into_iter().chain(above.and_then(|above| above.at())).min()
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.at().is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Returns the time for the answer to a question that is asked now.
    pub(crate) fn time_to_ask(self: &Arc<Self>) -> TimeToAsk {
        TimeToAsk { deadline: Arc::clone(self), asked: Instant::now() }
    }

    /// Waits until the deadline has passed.
    pub(crate) async fn passes(&self) {
        loop {
            until(self.at()).await;
            // It may have moved meanwhile.
            if self.has_passed() {
                return;
            }
        }
    }

    /// Sets a new task above.
    pub(crate) fn move_below(&self, above: Arc<Self>) {
        *self.above.lock().unwrap_or_else(PoisonError::into_inner) = Some(above);
    }
}

/// Time limit for the answer to one question, so that a task without an answer has time to continue. It counts from the
/// asking, covers both queueing and display, and moves only with the deadline.
#[derive(Debug)]
pub(crate) struct TimeToAsk {
    deadline: Arc<Deadline>,
    asked: Instant,
}

impl TimeToAsk {
    /// Returns the current end; `None` is without limit.
    pub(crate) fn latest(&self) -> Option<Instant> {
        self.deadline.at().map(|deadline| self.asked + deadline.saturating_duration_since(self.asked) * 3 / 4)
    }

    /// True if a person who sees the question now could still answer it.
    pub(crate) fn is_enough(&self) -> bool {
        self.latest().is_none_or(|latest| latest.saturating_duration_since(Instant::now()) >= SHORTEST)
    }

    /// Returns its end, or that of an approval timeout, whichever comes first.
    pub(crate) fn end(&self, patience: Option<Instant>) -> Option<Instant> {
        patience.into_iter().chain(self.latest()).min()
    }

    /// True if it ends before an approval timeout.
    pub(crate) fn ends_before(&self, patience: Option<Instant>) -> bool {
        self.latest().is_some_and(|latest| patience.is_none_or(|patience| latest < patience))
    }

    /// Waits until it is over, or an approval timeout is.
    pub(crate) async fn passes(&self, patience: Option<Instant>) {
        loop {
            until(self.end(patience)).await;
            // It may have moved meanwhile.
            if self.end(patience).is_some_and(|end| end <= Instant::now()) {
                return;
            }
        }
    }
}

/// Sleeps until the deadline; for ever if there is none.
pub(crate) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
