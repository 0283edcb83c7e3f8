//! The place that a task occupies while it works. Admission queues in order; it never refuses.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A task's claim to one of the engine's slots.
pub(crate) struct Slot {
    /// `None`: the task needs no slot (a main agent waits for its children most of the time).
    slots: Option<Arc<Semaphore>>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Slot {
    pub(crate) fn unlimited() -> Self {
        Self { slots: None, held: Mutex::new(None) }
    }

    pub(crate) fn of(slots: Arc<Semaphore>) -> Self {
        Self { slots: Some(slots), held: Mutex::new(None) }
    }

    /// Waits for a slot, behind all who asked earlier.
    pub(crate) async fn take(&self) {
        if let Some(slots) = &self.slots {
            // The engine never closes its semaphore, so the only error there is cannot come.
            let permit = Arc::clone(slots).acquire_owned().await.ok();
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = permit;
        }
    }

    /// Gives the slot back for as long as `waiting` takes: whoever waits for children must not keep them out. Then it
    /// queues for a slot again, until `give_up` says that the task must end anyway.
    pub(crate) async fn lend<T>(&self, waiting: impl Future<Output = T>, give_up: impl Future<Output = ()>) -> T {
        drop(self.held.lock().unwrap_or_else(PoisonError::into_inner).take());
        let result = waiting.await;
        tokio::select! {
            () = self.take() => {}
            () = give_up => {}
        }
        result
    }
}
