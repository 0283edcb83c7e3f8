//! Presence of a client: its replies are watched until they have been sent.

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

/// A client that waits for a reply or listens to a stream. Dropped once the connection has the last of it, or is gone.
pub(super) struct Presence {
    sessions: Arc<Sessions>,
    session: Option<SessionId>,
    /// True if a reply is owed. A client that only listens is owed none.
    is_owed: bool,
}

impl Presence {
    pub(super) fn new(sessions: &Arc<Sessions>, session: Option<SessionId>) -> Self {
        if let Some(id) = &session {
            sessions.enter(id);
        }
        Self { sessions: Arc::clone(sessions), session, is_owed: false }
    }

    /// Records that a reply is owed.
    pub(super) fn wait_for_answer(&mut self) {
        self.is_owed = true;
        self.sessions.owe();
    }

    /// Enters the session that this reply created.
    pub(super) fn enter(&mut self, id: SessionId) {
        self.sessions.enter(&id);
        self.session = Some(id);
    }

    /// Stays alive while the reply is being sent.
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
