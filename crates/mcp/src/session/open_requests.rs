//! Open requests of one session, updated from the messages between the protocol and its transport.
//!
//! The protocol library identifies a request by its id alone. If two requests had one id, it would lose a reply, and
//! cancel the wrong one. It also does not report the end of a cancelled request, whose late reply could be taken for
//! that of a new one. The protocol forbids reuse of ids in a session; many cancelled ids are remembered here.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use thiserror::Error;

/// Number of cancelled ids that are remembered. By then the work of older ones is over.
const MOST_CANCELLED: usize = 1024;

#[derive(Debug)]
pub(crate) struct OpenRequests {
    ids: Mutex<Ids>,
    most: usize,
}

#[derive(Debug, Default)]
struct Ids {
    /// Requests without a reply that were not cancelled.
    under_way: HashSet<RequestId>,
    /// Newest last.
    cancelled: VecDeque<RequestId>,
}

/// Reason to refuse a request.
#[derive(Debug, Error)]
pub(crate) enum NotBegun {
    #[error("a request with the id {id} is under way; give each request of a session an id of its own")]
    IdInUse { id: RequestId },
    #[error("the request with the id {id} was cancelled; give each request of a session an id of its own")]
    IdCancelled { id: RequestId },
    #[error("{n_calls} requests are under way in this session; wait for the answer of one of them, or cancel it")]
    TooMany { n_calls: usize, id: RequestId },
}

impl OpenRequests {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { ids: Mutex::default(), most })
    }

    /// Records a new request. Its id must be free: two requests with one id could not be distinguished.
    pub(crate) fn begin(self: &Arc<Self>, id: RequestId) -> Result<Begun, NotBegun> {
        let mut ids = self.lock();
        let Ids { under_way, cancelled } = &mut *ids;
        if under_way.contains(&id) {
            return Err(NotBegun::IdInUse { id });
        }
        if cancelled.contains(&id) {
            return Err(NotBegun::IdCancelled { id });
        }
        if under_way.len() >= self.most {
            return Err(NotBegun::TooMany { n_calls: self.most, id });
        }
        under_way.insert(id.clone());
        Ok(Begun { calls: Arc::clone(self), id: Some(id) })
    }

    /// Records the request that an outgoing message answers.
    pub(crate) fn note_sent(&self, message: &TxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Response(response) => self.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.end(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }

    /// Records the request that a client's message cancels; it gets no reply.
    pub(crate) fn note_received(&self, message: &RxJsonRpcMessage<RoleServer>) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            let mut ids = self.lock();
            if ids.under_way.remove(id) {
                let more = (ids.cancelled.len() + 1).saturating_sub(MOST_CANCELLED);
                ids.cancelled.drain(..more);
                ids.cancelled.push_back(id.clone());
            }
        }
    }

    pub(crate) fn any(&self) -> bool {
        !self.lock().under_way.is_empty()
    }

    /// Removes and returns one of them.
    pub(crate) fn end_any(&self) -> Option<RequestId> {
        let mut ids = self.lock();
        let id = ids.under_way.iter().next().cloned()?;
        ids.under_way.take(&id)
    }

    fn end(&self, id: &RequestId) {
        self.lock().under_way.remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is recorded but not passed on yet. Dropping it removes the request.
#[derive(Debug)]
pub(crate) struct Begun {
    calls: Arc<OpenRequests>,
    id: Option<RequestId>,
}

impl Begun {
    /// Records that the session has it now.
    pub(crate) fn pass_on(mut self) {
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
