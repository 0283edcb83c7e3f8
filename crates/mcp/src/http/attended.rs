//! The requests under way in one session, kept up to date by what passes between the protocol and its session.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{CancelledNotification, CancelledNotificationParam, ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::refusal::Refusal;

/// The ids of requests that have no answer yet and were not cancelled.
#[derive(Debug)]
pub(super) struct Calls {
    under_way: Mutex<HashSet<RequestId>>,
    most: usize,
}

impl Calls {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { under_way: Mutex::default(), most })
    }

    /// Notes that a request is under way. An id must be free: two requests with one id could not be told apart.
    pub(super) fn begin(self: &Arc<Self>, id: RequestId) -> Result<Begun, Refusal> {
        let mut under_way = self.lock();
        if under_way.contains(&id) {
            return Err(Refusal::IdInUse { id });
        }
        if under_way.len() >= self.most {
            return Err(Refusal::TooManyCalls { n_calls: self.most, id });
        }
        under_way.insert(id.clone());
        Ok(Begun { calls: Arc::clone(self), id: Some(id) })
    }

    pub(super) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Ends one of them.
    fn end_any(&self) -> Option<RequestId> {
        let mut under_way = self.lock();
        let id = under_way.iter().next().cloned()?;
        under_way.take(&id)
    }

    fn end(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is noted and not passed on yet. Dropped, it is not under way.
pub(super) struct Begun {
    calls: Arc<Calls>,
    id: Option<RequestId>,
}

impl Begun {
    /// The session has it now.
    pub(super) fn pass_on(mut self) {
        self.id = None;
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.calls.end(id);
        }
    }
}

/// A session's transport that notes which requests end.
pub(super) struct Attended<T> {
    pub(super) transport: T,
    pub(super) calls: Arc<Calls>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Attended<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(response) => self.calls.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.calls.end(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Some(message) = self.transport.receive().await else {
            // Nobody is left to answer to: whatever is under way is cancelled, rather than waited for.
            return self.calls.end_any().map(cancelled);
        };
        if let JsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            // A cancelled request gets no answer.
            self.calls.end(id);
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

/// What a client would send that does not want an answer any more.
fn cancelled(id: RequestId) -> RxJsonRpcMessage<RoleServer> {
    let why = Some("the session has ended".to_owned());
    let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(id), why));
    JsonRpcMessage::notification(ClientNotification::CancelledNotification(notification))
}
