//! When a task's time is over: by its own limit, or by that of whoever has it.
//!
//! A child whose parent fails has its adopter's time from then on, so nobody keeps the moment: whoever wants to know
//! asks anew. It only ever moves away: who adopts stands above, where there is no less time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// With less time than that nobody can read a question and answer it.
const SHORTEST: Duration = Duration::from_secs(2);

/// The end of one task's time.
#[derive(Debug)]
pub(crate) struct Deadline {
    own: Option<Instant>,
    above: Mutex<Option<Arc<Deadline>>>,
}

impl Deadline {
    pub(crate) fn new(own: Option<Instant>, above: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { own, above: Mutex::new(above) })
    }

    /// As it stands now; `None` is never.
    pub(crate) fn at(&self) -> Option<Instant> {
        let above = self.above.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.own.into_iter().chain(above.and_then(|above| above.at())).min()
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.at().is_some_and(|deadline| deadline <= Instant::now())
    }

    /// The time for the answer to a question that is asked now.
    pub(crate) fn time_to_ask(self: &Arc<Self>) -> TimeToAsk {
        TimeToAsk { deadline: Arc::clone(self), asked: Instant::now() }
    }

    /// Waits until it has passed.
    pub(crate) async fn passes(&self) {
        loop {
            until(self.at()).await;
            // It may have moved meanwhile.
            if self.has_passed() {
                return;
            }
        }
    }

    /// From now on another one is above.
    pub(crate) fn move_below(&self, above: Arc<Self>) {
        *self.above.lock().unwrap_or_else(PoisonError::into_inner) = Some(above);
    }
}

/// Until when the answer to one question can be waited for: whoever gets none must have time to go on without. It is
/// the same moment while the question stands behind others and while it is shown, and moves only with the deadline.
#[derive(Debug)]
pub(crate) struct TimeToAsk {
    deadline: Arc<Deadline>,
    asked: Instant,
}

impl TimeToAsk {
    /// As it stands now; `None` is as long as it takes.
    pub(crate) fn latest(&self) -> Option<Instant> {
        self.deadline.at().map(|deadline| self.asked + deadline.saturating_duration_since(self.asked) * 3 / 4)
    }

    /// Whether somebody to whom it is shown now could still answer it.
    pub(crate) fn is_enough(&self) -> bool {
        self.latest().is_none_or(|latest| latest.saturating_duration_since(Instant::now()) >= SHORTEST)
    }

    /// Its end, or that of a patience, whichever comes first.
    pub(crate) fn end(&self, patience: Option<Instant>) -> Option<Instant> {
        patience.into_iter().chain(self.latest()).min()
    }

    /// Whether it ends before a patience does.
    pub(crate) fn ends_before(&self, patience: Option<Instant>) -> bool {
        self.latest().is_some_and(|latest| patience.is_none_or(|patience| latest < patience))
    }

    /// Waits until it is over, or a patience is.
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
