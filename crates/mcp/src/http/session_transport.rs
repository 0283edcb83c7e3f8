//! The transport of a session, which records the requests that end, and ends them all when the session does.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CancelledNotification, CancelledNotificationParam, ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use crate::session::open_requests::OpenRequests;

pub(super) struct SessionTransport<T> {
    pub(super) transport: T,
    pub(super) calls: Arc<OpenRequests>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for SessionTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.calls.note_sent(&message);
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Some(message) = self.transport.receive().await else {
            // Nobody is left to answer to, so open requests are cancelled rather than awaited.
            return self.calls.end_any().map(cancelled);
        };
        self.calls.note_received(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

/// The message by which a client cancels a request.
fn cancelled(id: RequestId) -> RxJsonRpcMessage<RoleServer> {
    let why = Some("the session has ended".to_owned());
    let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(id), why));
    JsonRpcMessage::notification(ClientNotification::CancelledNotification(notification))
}
