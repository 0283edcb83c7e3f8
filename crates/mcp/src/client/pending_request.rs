//! A request that the server has not answered yet. When its caller stops waiting, in whatever way, the server is
//! notified.

use std::time::Duration;

use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, RoleClient};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Time limit for a message to the server that needs no answer.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

pub(super) struct PendingRequest {
    peer: Peer<RoleClient>,
    /// `None` once there is nothing left to send.
    id: Option<RequestId>,
}

impl PendingRequest {
    pub(super) fn new(peer: &Peer<RoleClient>, id: RequestId) -> Self {
        Self { peer: peer.clone(), id: Some(id) }
    }

    /// Marks the request as answered, so that nothing is sent to the server.
    pub(super) fn answered(mut self) {
        self.id = None;
    }

    /// Notifies the server that nobody waits any more; true if that was sent in time.
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
