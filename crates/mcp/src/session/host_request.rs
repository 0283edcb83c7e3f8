//! A request of ours to a host. If dropped before its answer, it notifies the host that nobody waits any more.

use rmcp::ServiceError;
use rmcp::model::{ClientResult, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleServer};

/// A request under way.
pub(crate) struct HostRequest(Option<RequestHandle<RoleServer>>);

impl HostRequest {
    pub(crate) async fn send(peer: &Peer<RoleServer>, request: ServerRequest) -> Result<Self, ServiceError> {
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        Ok(Self(Some(sent)))
    }

    pub(crate) async fn answer(&mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else { return Err(ServiceError::TransportClosed) };
        let answered = (&mut handle.rx).await;
        self.0 = None;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for HostRequest {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(handle.cancel(Some("the task no longer waits for it".to_owned())));
        }
    }
}
