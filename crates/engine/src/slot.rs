//! The place that a task occupies while it works. Admission queues in order; it never refuses.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A task's claim to one of the engine's slots.
pub(crate) struct Slot {
    /// `None`: the task needs no slot (a main agent waits for its children most of the time).
    slots: Option<Arc<Semaphore>>,
    claim: Mutex<Claim>,
    /// Held by whichever of a task's calls takes the slot back for all of them.
    taking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Claim {
    permit: Option<OwnedSemaphorePermit>,
    /// How many of the task's calls wait without it.
    waiting: usize,
}

impl Slot {
    pub(crate) fn unlimited() -> Self {
        Self { slots: None, claim: Mutex::default(), taking: tokio::sync::Mutex::default() }
    }

    pub(crate) fn of(slots: Arc<Semaphore>) -> Self {
        Self { slots: Some(slots), ..Self::unlimited() }
    }

    /// Waits for a slot, behind all who asked earlier.
    pub(crate) async fn take(&self) {
        let Some(slots) = &self.slots else { return };
        let _one_by_one = self.taking.lock().await;
        if self.lock().permit.is_some() {
            return;
        }
        // The engine never closes its semaphore, so the only error there is cannot come.
        let permit = Arc::clone(slots).acquire_owned().await.ok();
        let mut claim = self.lock();
        // Where another call has begun to wait meanwhile, that one takes it back.
        if claim.waiting == 0 {
            claim.permit = permit;
        }
    }

    /// Gives the slot back for as long as `waiting` takes: whoever waits for children or for a person must not keep others
    /// out. Once no call of the task waits any more, it queues for a slot again, until `give_up` says that it must end
    /// anyway.
    pub(crate) async fn lend<T>(&self, waiting: impl Future<Output = T>, give_up: impl Future<Output = ()>) -> T {
        let loan = Loan::of(self);
        let result = waiting.await;
        drop(loan);
        if self.lock().waiting == 0 {
            tokio::select! {
                () = self.take() => {}
                () = give_up => {}
            }
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Claim> {
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call waits without the slot, as long as this is kept.
struct Loan<'a>(&'a Slot);

impl<'a> Loan<'a> {
    fn of(slot: &'a Slot) -> Self {
        let mut claim = slot.lock();
        claim.waiting += 1;
        claim.permit = None;
        drop(claim);
        Self(slot)
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}
