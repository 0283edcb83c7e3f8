//! The requests under way in one session, kept up to date by what passes between the protocol and its transport.
//!
//! The protocol's library knows a request by its id alone: of two with the same one it would lose an answer, and cancel
//! the wrong one.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use thiserror::Error;

/// The ids of requests that have no answer yet and were not cancelled.
#[derive(Debug)]
pub(crate) struct Calls {
    under_way: Mutex<HashSet<RequestId>>,
    most: usize,
}

/// Why a request is not taken.
#[derive(Debug, Error)]
pub(crate) enum NotBegun {
    #[error(
        "a request with the id {id} is under way; an id can be used again when its request is answered or cancelled"
    )]
    IdInUse { id: RequestId },
    #[error("{n_calls} requests are under way in this session; wait for the answer of one of them, or cancel it")]
    TooMany { n_calls: usize, id: RequestId },
}

impl Calls {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { under_way: Mutex::default(), most })
    }

    /// Notes that a request is under way. An id must be free: two requests with one id could not be told apart.
    pub(crate) fn begin(self: &Arc<Self>, id: RequestId) -> Result<Begun, NotBegun> {
        let mut under_way = self.lock();
        if under_way.contains(&id) {
            return Err(NotBegun::IdInUse { id });
        }
        if under_way.len() >= self.most {
            return Err(NotBegun::TooMany { n_calls: self.most, id });
        }
        under_way.insert(id.clone());
        Ok(Begun { calls: Arc::clone(self), id: Some(id) })
    }

    /// Notes which request a message of the protocol answers.
    pub(crate) fn note_sent(&self, message: &TxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Response(response) => self.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.end(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }

    /// Notes which request a message of the client cancels: it gets no answer.
    pub(crate) fn note_received(&self, message: &RxJsonRpcMessage<RoleServer>) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.end(id);
        }
    }

    pub(crate) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Ends one of them.
    pub(crate) fn end_any(&self) -> Option<RequestId> {
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
#[derive(Debug)]
pub(crate) struct Begun {
    calls: Arc<Calls>,
    id: Option<RequestId>,
}

impl Begun {
    /// The session has it now.
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
