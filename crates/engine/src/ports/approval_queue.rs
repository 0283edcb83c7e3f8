//! The queue of questions to a person: one is open at a time, the others wait in order.

/// The queue of one engine.
#[derive(Default)]
pub(crate) struct ApprovalQueue {
    turn: tokio::sync::Mutex<()>,
}

impl ApprovalQueue {
    /// Waits until no other question is open.
    pub(crate) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}
