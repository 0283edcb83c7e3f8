//! Order of calls in one turn. They run at the same time, but messages to other tasks go out, and sub-agents are
//! admitted, in the order of the calls.
//!
//! This module only decides when a step of a call begins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_protocol::CallId;
use sortie_tools::Order;
use tokio_util::sync::CancellationToken;

/// The calls of the newest turn that send messages to other tasks, or delegate.
#[derive(Default)]
pub(crate) struct CallOrder {
    /// A token for each call that sends a message, cancelled once it has.
    said: Mutex<HashMap<CallId, CancellationToken>>,
    admissions: Mutex<HashMap<CallId, Arc<AdmissionOrder>>>,
}

/// Place of one call among those that say something, look at what was said, or delegate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedCall<'a> {
    pub(crate) id: &'a CallId,
    pub(crate) order: Order,
    pub(crate) delegates: bool,
}

/// Order of one delegation among those of its turn. Slow start hooks run between the two steps, so those of several
/// calls run at the same time.
pub(crate) struct AdmissionOrder {
    /// Counted towards limits on children and starts.
    pub(crate) counted: Step,
    /// Started, with a place in the queue for slots.
    pub(crate) started: Step,
}

/// One step of a delegation, after the same step of all earlier ones.
pub(crate) struct Step {
    earlier: Vec<CancellationToken>,
    done: CancellationToken,
}

/// Order state while one turn's calls are created.
pub(crate) struct TurnOrder<'a> {
    words: &'a CallOrder,
    /// Cancelled once the last call that sends a message has sent it, and so have all before it.
    said: Option<CancellationToken>,
    counted: Vec<CancellationToken>,
    started: Vec<CancellationToken>,
}

impl CallOrder {
    /// Starts the next turn.
    pub(crate) fn turn(&self) -> TurnOrder<'_> {
        lock(&self.said).clear();
        lock(&self.admissions).clear();
        TurnOrder { words: self, said: None, counted: Vec::new(), started: Vec::new() }
    }

    /// Marks a call as having spoken, although it still runs.
    pub(crate) fn are_said(&self, by: &CallId) {
        if let Some(said) = lock(&self.said).get(by) {
            said.cancel();
        }
    }

    /// Returns the order of a delegation; `None` if the call is none of its turn.
    pub(crate) fn admission(&self, of: &CallId) -> Option<Arc<AdmissionOrder>> {
        lock(&self.admissions).get(of).cloned()
    }
}

impl Step {
    fn after(earlier: &mut Vec<CancellationToken>) -> Self {
        let done = CancellationToken::new();
        let before = earlier.clone();
        earlier.push(done.clone());
        Self { earlier: before, done }
    }

    /// Waits until all earlier calls have taken this step, or have ended.
    pub(crate) async fn is_due(&self) {
        for earlier in &self.earlier {
            earlier.cancelled().await;
        }
    }

    /// Lets the later calls take this step.
    pub(crate) fn is_done(&self) {
        self.done.cancel();
    }
}

/// Guard: a call that ends, however it ends, holds up no other.
struct NoLongerAwaited(Option<Arc<AdmissionOrder>>);

impl Drop for NoLongerAwaited {
    fn drop(&mut self) {
        if let Some(order) = &self.0 {
            order.counted.is_done();
            order.started.is_done();
        }
    }
}

impl TurnOrder<'_> {
    /// Wraps the next call of the turn, so that it begins in order.
    pub(crate) fn next<T, P: Future<Output = T>>(
        &mut self,
        OrderedCall { id, order, delegates }: OrderedCall<'_>,
        passage: P,
    ) -> impl Future<Output = T> + use<T, P> {
        let before = self.said.clone().filter(|_| order != Order::Free);
        let said = CancellationToken::new();
        if order == Order::Says {
            lock(&self.words.said).insert(id.clone(), said.clone());
            self.said = Some(said.clone());
        }
        let admission = delegates.then(|| {
            let (counted, started) = (Step::after(&mut self.counted), Step::after(&mut self.started));
            Arc::new(AdmissionOrder { counted, started })
        });
        if let Some(admission) = &admission {
            lock(&self.words.admissions).insert(id.clone(), Arc::clone(admission));
        }
        let awaited = NoLongerAwaited(admission);
        async move {
            // Dropped also on a panic, so that nobody waits for ever.
            let (_said, _awaited) = (said.drop_guard(), awaited);
            if let Some(before) = before {
                before.cancelled().await;
            }
            passage.await
        }
    }
}

fn lock<T>(calls: &Mutex<T>) -> MutexGuard<'_, T> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}
