//! Bodies of requests: read whole, within their bounds, and classified as far as HTTP needs it.

use std::borrow::Cow;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http_request::Bounds;
use crate::http_request::refusal::Refusal;

/// Reads bodies, all of them together within one bound.
pub(crate) struct Bodies {
    bounds: Bounds,
    room: Semaphore,
}

/// A body, and the room that it takes until it is parsed.
pub(crate) struct Read<'a> {
    pub(crate) bytes: Bytes,
    _room: Option<SemaphorePermit<'a>>,
}

/// The parts of a message that matter here.
#[derive(Debug, Default, Deserialize)]
struct Head<'a> {
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default)]
    id: Option<RequestId>,
}

impl Bodies {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let room = Semaphore::new(bounds.all_bodies_bytes.max(bounds.body_bytes));
        Self { bounds, room }
    }

    pub(crate) async fn read(&self, body: Incoming) -> Result<Read<'_>, Refusal> {
        let in_time = tokio::time::timeout(self.bounds.body_time, self.read_whole(body));
        in_time.await.unwrap_or(Err(Refusal::Slow))
    }

    async fn read_whole(&self, body: Incoming) -> Result<Read<'_>, Refusal> {
        let limit = self.bounds.body_bytes;
        let length = body.size_hint().upper().and_then(|upper| usize::try_from(upper).ok());
        let room = u32::try_from(length.map_or(limit, |length| length.min(limit))).unwrap_or(u32::MAX);
        // Never closed; without room, the bound would be gone.
        let room = self.room.acquire_many(room).await.map_err(|_| Refusal::Ending)?;
        match Limited::new(body, limit).collect().await {
            Ok(whole) => Ok(Read { bytes: whole.to_bytes(), _room: Some(room) }),
            Err(error) if error.is::<LengthLimitError>() => Err(Refusal::TooLarge { limit }),
            Err(_) => Err(Refusal::BrokenOff),
        }
    }
}

impl Read<'_> {
    pub(crate) fn nothing() -> Self {
        Self { bytes: Bytes::new(), _room: None }
    }

    /// True if it requests a session.
    pub(crate) fn is_initialize(&self) -> bool {
        self.head().method.as_deref() == Some("initialize")
    }

    /// True if it only subscribes to notifications; there is no reply to wait for.
    pub(crate) fn only_listens(&self) -> bool {
        self.head().method.as_deref() == Some("subscriptions/listen")
    }

    /// True if it calls a tool.
    pub(crate) fn is_call(&self) -> bool {
        self.head().method.as_deref() == Some("tools/call")
    }

    /// The id of a request; `None` for everything else.
    pub(crate) fn request_id(&self) -> Option<RequestId> {
        let head = self.head();
        head.id.filter(|_| head.method.is_some())
    }

    /// Returns the fault of a body that the protocol does not understand.
    pub(crate) fn fault(&self) -> Refusal {
        let is_list = self.bytes.trim_ascii_start().starts_with(b"[");
        if is_list && serde_json::from_slice::<IgnoredAny>(&self.bytes).is_ok() {
            return Refusal::Batch;
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(&self.bytes) {
            // This includes input that is nested too deeply to parse.
            Err(error) if !error.is_data() => Refusal::NotJson { reason: error.to_string() },
            _ => Refusal::NotAMessage { id: self.head().id },
        }
    }

    fn head(&self) -> Head<'_> {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }
}
