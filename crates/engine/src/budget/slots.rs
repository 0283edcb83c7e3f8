//! Slots: the places of tasks that work at the same time. Admission queues in order and never refuses. A task that
//! waits to get its slot back says so.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use sortie_protocol::{Fact, Need};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::budget::account::Account;
use crate::log::writer::FactWriter;

/// A task's claim to one of the engine's slots.
pub(crate) struct Slot {
    /// The semaphore, and the task's log. `None` if the task needs no slot (a main agent mostly waits for its
    /// children).
    slots: Option<(Arc<Semaphore>, FactWriter)>,
    claim: Mutex<Claim>,
    /// Held by the call that takes the slot back for all calls of the task.
    taking: tokio::sync::Mutex<()>,
    /// The task's account: while the task waits, the amount that it set aside does not come free.
    account: Arc<Account>,
}

/// A place in the queue for slots.
type Place = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

#[derive(Default)]
struct Claim {
    permit: Option<OwnedSemaphorePermit>,
    /// The place taken before the task began.
    place: Option<Place>,
    /// Number of the task's calls that wait without the slot.
    waiting: usize,
}

impl Slot {
    pub(crate) fn unlimited(account: Arc<Account>) -> Self {
        Self { slots: None, claim: Mutex::default(), taking: tokio::sync::Mutex::default(), account }
    }

    pub(crate) fn of(slots: Arc<Semaphore>, sink: FactWriter, account: Arc<Account>) -> Self {
        Self { slots: Some((slots, sink)), ..Self::unlimited(account) }
    }

    /// Takes a free slot, or a place in the queue, without waiting. Tasks that are started one after the other get
    /// their slots in that order.
    pub(crate) fn enqueue(&self) {
        let Some((slots, _)) = &self.slots else { return };
        let mut place: Place = Box::pin(Arc::clone(slots).acquire_owned());
        let at_once = (&mut place).now_or_never();
        let mut claim = self.lock();
        match at_once {
            Some(permit) => claim.permit = permit.ok(),
            None => claim.place = Some(place),
        }
    }

    /// Waits for a slot, in order of arrival.
    pub(crate) async fn take(&self) {
        self.take_saying(None).await;
    }

    /// Waits for a slot, and first writes `waits` if none is free.
    async fn take_saying(&self, waits: Option<Fact>) {
        let Some((slots, sink)) = &self.slots else { return };
        let _one_by_one = self.taking.lock().await;
        if self.lock().permit.is_some() {
            return;
        }
        let place = self.lock().place.take();
        let at_once = if place.is_none() { Arc::clone(slots).try_acquire_owned().ok() } else { None };
        if let Some(fact) = waits.filter(|_| at_once.is_none()) {
            // A lost journal shows at the next fact that matters.
            sink.append(fact).await.ok();
        }
        // The only possible error is a closed semaphore, and the engine never closes it.
        let permit = match (at_once, place) {
            (Some(permit), _) => Some(permit),
            (None, Some(place)) => place.await.ok(),
            (None, None) => Arc::clone(slots).acquire_owned().await.ok(),
        };
        let mut claim = self.lock();
        // If another call has begun to wait meanwhile, that call takes it back.
        if claim.waiting == 0 {
            claim.permit = permit;
        }
    }

    /// Gives the slot back while `waiting` runs: a task that waits for children or a person must not keep others out.
    /// Once none of its calls waits any more, the task queues for a slot again, unless `give_up` completes first.
    pub(crate) async fn lend<T>(&self, waiting: impl Future<Output = T>, give_up: impl Future<Output = ()>) -> T {
        let _rest = self.account.rest();
        let loan = Loan::of(self);
        let result = waiting.await;
        drop(loan);
        if self.lock().waiting == 0 {
            tokio::select! {
                () = self.take_saying(Some(Fact::TaskQueued { needs: Need::Slot })) => {}
                () = give_up => {}
            }
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Claim> {
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard: while held, one call waits without the slot.
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

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use sortie_journal::MemoryJournal;
    use sortie_protocol::Limits;

    use super::*;
    use crate::SystemClock;
    use crate::log::progress_file::tests::job;
    use crate::log::writer::LegHold;

    fn slot(slots: &Arc<Semaphore>, sink: FactWriter) -> Slot {
        Slot::of(Arc::clone(slots), sink, Account::of_root(Limits::default()))
    }

    #[tokio::test]
    async fn a_task_that_waits_for_its_slot_says_so_and_gets_it_back() {
        let sink =
            || FactWriter::new(Arc::new(MemoryJournal::new()), Arc::new(SystemClock), Arc::new(job()), LegHold::FIRST);
        let (slots, own) = (Arc::new(Semaphore::new(1)), sink());
        let (one, other) = (slot(&slots, own.clone()), slot(&slots, sink()));
        one.take().await;
        let mut lending = pin!(one.lend(other.take(), std::future::pending()));
        assert_eq!(lending.as_mut().now_or_never(), None, "the other one has taken it and keeps it");
        assert_eq!(own.latest_activity().glimpse().last, "waiting for a slot");
        other.lock().permit = None;
        lending.await;
        assert!(one.lock().permit.is_some());
    }
}
