//! The place that a task occupies while it works. Admission queues in order; it never refuses. Who wants its place back
//! says that it waits.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_protocol::{Fact, Need};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::budget::account::Account;
use crate::log::writer::FactWriter;

/// A task's claim to one of the engine's slots.
pub(crate) struct Slot {
    /// With the log of the task. `None`: it needs no slot (a main agent waits for its children most of the time).
    slots: Option<(Arc<Semaphore>, FactWriter)>,
    claim: Mutex<Claim>,
    /// Held by whichever of a task's calls takes the slot back for all of them.
    taking: tokio::sync::Mutex<()>,
    /// Of the task: what it has set aside does not come free while it waits.
    account: Arc<Account>,
}

#[derive(Default)]
struct Claim {
    permit: Option<OwnedSemaphorePermit>,
    /// How many of the task's calls wait without it.
    waiting: usize,
}

impl Slot {
    pub(crate) fn unlimited(account: Arc<Account>) -> Self {
        Self { slots: None, claim: Mutex::default(), taking: tokio::sync::Mutex::default(), account }
    }

    pub(crate) fn of(slots: Arc<Semaphore>, sink: FactWriter, account: Arc<Account>) -> Self {
        Self { slots: Some((slots, sink)), ..Self::unlimited(account) }
    }

    /// Waits for a slot, behind all who asked earlier.
    pub(crate) async fn take(&self) {
        self.take_saying(None).await;
    }

    /// The same; says this first, if it has to wait.
    async fn take_saying(&self, waits: Option<Fact>) {
        let Some((slots, sink)) = &self.slots else { return };
        let _one_by_one = self.taking.lock().await;
        if self.lock().permit.is_some() {
            return;
        }
        let at_once = Arc::clone(slots).try_acquire_owned().ok();
        if let Some(fact) = waits.filter(|_| at_once.is_none()) {
            // A journal that is lost is noticed by the next fact that matters.
            sink.append(fact).await.ok();
        }
        // The engine never closes its semaphore, so the only error there is cannot come.
        let permit = if at_once.is_some() { at_once } else { Arc::clone(slots).acquire_owned().await.ok() };
        let mut claim = self.lock();
        // Where another call has begun to wait meanwhile, that one takes it back.
        if claim.waiting == 0 {
            claim.permit = permit;
        }
    }

    /// Gives the slot back for as long as `waiting` takes: whoever waits for children or for a person must not keep
    /// others out. Once no call of the task waits any more, it queues for a slot again, until `give_up` says that it
    /// must end anyway.
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
    async fn whoever_wants_its_slot_back_while_another_one_has_it_says_so_and_gets_it() {
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
