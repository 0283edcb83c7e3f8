//! Calls of one turn run at the same time, but for those that say something to others: that is said in the order of the
//! calls.
//!
//! It orders when calls begin; what a call does is not its business.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sortie_protocol::CallId;
use sortie_tools::Order;
use tokio_util::sync::CancellationToken;

/// What the calls of a task's newest turn say to others.
#[derive(Default)]
pub(crate) struct CallOrder {
    /// Of each call that says something: cancelled once it has.
    said: Mutex<HashMap<CallId, CancellationToken>>,
}

/// How far the words of one turn have come.
pub(crate) struct TurnOrder<'a> {
    words: &'a CallOrder,
    /// Cancelled when the last call that says something has done so, and with it all before.
    said: Option<CancellationToken>,
}

impl CallOrder {
    /// The next turn begins.
    pub(crate) fn turn(&self) -> TurnOrder<'_> {
        self.lock().clear();
        TurnOrder { words: self, said: None }
    }

    /// What a call has to say is said, although it has not ended.
    pub(crate) fn are_said(&self, by: &CallId) {
        if let Some(said) = self.lock().get(by) {
            said.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnOrder<'_> {
    /// The next call of the turn, which begins when it may.
    pub(crate) fn next<T, P: Future<Output = T>>(
        &mut self,
        call: &CallId,
        order: Order,
        passage: P,
    ) -> impl Future<Output = T> + use<T, P> {
        let before = self.said.clone().filter(|_| order != Order::Free);
        let said = CancellationToken::new();
        if order == Order::Says {
            self.words.lock().insert(call.clone(), said.clone());
            self.said = Some(said.clone());
        }
        async move {
            // Also if it breaks down: nobody waits for ever.
            let _said = said.drop_guard();
            if let Some(before) = before {
                before.cancelled().await;
            }
            passage.await
        }
    }
}
