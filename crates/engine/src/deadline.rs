//! When a task's time is over: by its own limit, or by that of whoever has it.
//!
//! A child whose parent fails has its adopter's time from then on, so nobody keeps the moment: whoever wants to know asks
//! anew. It only ever moves away: who adopts stands above, where there is no less time.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use crate::turn::until;

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

    /// Until when an answer can be waited for that is asked for now: whoever gets none must have time to go on without.
    /// `None` is as long as it takes.
    pub(crate) fn latest_to_ask(&self) -> Option<Instant> {
        let now = Instant::now();
        self.at().map(|deadline| now + deadline.saturating_duration_since(now) * 3 / 4)
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
