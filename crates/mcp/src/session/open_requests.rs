//! The requests under way in one session, kept up to date by what passes between the protocol and its transport.
//!
//! The protocol's library knows a request by its id alone: of two with the same one it would lose an answer, and cancel
//! the wrong one. It does not tell when a request that was cancelled is over, either: its late answer would be taken
//! for that of a new one with its id. The protocol has no id used twice in a session; a good many that were cancelled
//! are remembered here.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use thiserror::Error;

/// Ids of cancelled requests that are remembered. By then the work of older ones is over.
const MOST_CANCELLED: usize = 1024;

#[derive(Debug)]
pub(crate) struct OpenRequests {
    ids: Mutex<Ids>,
    most: usize,
}

#[derive(Debug, Default)]
struct Ids {
    /// Of requests that have no answer yet and were not cancelled.
    under_way: HashSet<RequestId>,
    /// The newest last.
    cancelled: VecDeque<RequestId>,
}

/// Why a request is not taken.
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

    /// Notes that a request is under way. An id must be free: two requests with one id could not be told apart.
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

    /// Ends one of them.
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

/// A request that is noted and not passed on yet. Dropped, it is not under way.
#[derive(Debug)]
pub(crate) struct Begun {
    calls: Arc<OpenRequests>,
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
