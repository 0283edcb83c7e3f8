//! A request that the server has not answered yet. Whoever stops waiting for it, in whatever way, tells the server.

use std::time::Duration;

use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, RoleClient};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a word to the server may take that nobody needs an answer to.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

pub(super) struct PendingRequest {
    peer: Peer<RoleClient>,
    /// `None` when there is nothing to tell any more.
    id: Option<RequestId>,
}

impl PendingRequest {
    pub(super) fn new(peer: &Peer<RoleClient>, id: RequestId) -> Self {
        Self { peer: peer.clone(), id: Some(id) }
    }

    /// There is nothing to tell the server.
    pub(super) fn answered(mut self) {
        self.id = None;
    }

    /// Tells the server that nobody waits any more; whether that could be said in time.
    pub(super) async fn withdraw(mut self, why: &'static str) -> bool {
        match self.id.take() {
            Some(id) => withdraw(self.peer.clone(), id, why).await,
            None => true,
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) {
            runtime.spawn(withdraw(self.peer.clone(), id, "nobody waits for it any more"));
        }
    }
}

async fn withdraw(peer: Peer<RoleClient>, id: RequestId, why: &'static str) -> bool {
    let given_up = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
    timeout(FAREWELL, peer.notify_cancelled(given_up)).await.is_ok_and(|told| told.is_ok())
}
