//! Order of calls in one turn. They run at the same time, but messages to other tasks go out in the order of the calls.
//!
//! This module only decides when a call begins.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sortie_protocol::CallId;
use sortie_tools::Order;
use tokio_util::sync::CancellationToken;

/// The calls of the newest turn that send messages to other tasks.
#[derive(Default)]
pub(crate) struct CallOrder {
    /// A token for each call that sends a message, cancelled once it has.
    said: Mutex<HashMap<CallId, CancellationToken>>,
}

/// Order state while one turn's calls are created.
pub(crate) struct TurnOrder<'a> {
    words: &'a CallOrder,
    /// Cancelled once the last call that sends a message has sent it, and so have all before it.
    said: Option<CancellationToken>,
}

impl CallOrder {
    /// Starts the next turn.
    pub(crate) fn turn(&self) -> TurnOrder<'_> {
        self.lock().clear();
        TurnOrder { words: self, said: None }
    }

    /// Marks a call as having spoken, although it still runs.
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
    /// Wraps the next call of the turn, so that it begins in order.
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
            // Dropped also on a panic, so that nobody waits for ever.
            let _said = said.drop_guard();
            if let Some(before) = before {
                before.cancelled().await;
            }
            passage.await
        }
    }
}
