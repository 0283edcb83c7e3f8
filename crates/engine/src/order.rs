//! Calls of one turn run at the same time, but for those that say something to others: these run in the order of the calls.
//!
//! It orders beginnings and ends; what a call does is not its business.

use sortie_tools::Order;
use tokio_util::sync::CancellationToken;

/// How far the words of one turn have come.
#[derive(Default)]
pub(crate) struct WordOrder {
    /// Cancelled when the last call that says something has ended, and with it all before.
    said: Option<CancellationToken>,
}

impl WordOrder {
    /// The next call of the turn, which begins when it may.
    pub(crate) fn next<T, P: Future<Output = T>>(
        &mut self,
        order: Order,
        passage: P,
    ) -> impl Future<Output = T> + use<T, P> {
        let before = self.said.clone().filter(|_| order != Order::Free);
        let ended = CancellationToken::new();
        if order == Order::Says {
            self.said = Some(ended.clone());
        }
        async move {
            // Also if it breaks down: nobody waits for ever.
            let _ended = ended.drop_guard();
            if let Some(before) = before {
                before.cancelled().await;
            }
            passage.await
        }
    }
}
