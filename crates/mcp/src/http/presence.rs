//! The presence of a client: its answers are watched until they have left.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::SessionId;

use crate::http::sessions::Sessions;
use crate::http_request::answer::Answer;

/// Somebody who waits for an answer or listens to a stream. Dropped when the connection has the last of it, or is gone.
pub(super) struct Presence {
    sessions: Arc<Sessions>,
    session: Option<SessionId>,
    /// Whether an answer is owed. Whoever listens without having asked is owed none.
    is_owed: bool,
}

impl Presence {
    pub(super) fn new(sessions: &Arc<Sessions>, session: Option<SessionId>) -> Self {
        if let Some(id) = &session {
            sessions.enter(id);
        }
        Self { sessions: Arc::clone(sessions), session, is_owed: false }
    }

    /// From now on an answer is owed.
    pub(super) fn wait_for_answer(&mut self) {
        self.is_owed = true;
        self.sessions.owe();
    }

    /// The session that this answer has made.
    pub(super) fn enter(&mut self, id: SessionId) {
        self.sessions.enter(&id);
        self.session = Some(id);
    }

    /// Stays as long as the answer is on its way.
    pub(super) fn accompany(self, answer: Answer) -> Answer {
        answer.map(|body| Watched { body, _presence: self }.boxed())
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(id) = &self.session {
            self.sessions.leave(id);
        }
        if self.is_owed {
            self.sessions.settle();
        }
    }
}

struct Watched {
    body: BoxBody<Bytes, Infallible>,
    _presence: Presence,
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
