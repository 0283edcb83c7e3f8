//! Port to a provider's wire: how to check, read, answer and reject requests. One file each implements it.

use std::fmt::Display;

use serde_json::Value;
use sortie_protocol::Reply;

use super::RecordedRequest;
use crate::script::Asked;

pub(super) trait Dialect: Send + Sync {
    /// Prefix of call ids.
    fn id_prefix(&self) -> &'static str;

    /// Rejects what the real provider rejects.
    fn check(&self, request: &RecordedRequest, key: Option<&str>) -> Result<(), Rejection>;

    /// Reads a request as far as possible; missing parts are empty.
    fn asked<'a>(&self, request: &'a RecordedRequest) -> Asked<'a>;

    /// True if a request wants its reply as a stream.
    fn streams(&self, request: &RecordedRequest) -> bool {
        request.body["stream"] == true
    }

    /// Encodes the whole reply as server-sent events.
    fn events(&self, answer: &Answer<'_>) -> Vec<String>;

    /// Encodes the whole reply as one JSON document.
    fn document(&self, answer: &Answer<'_>) -> Value;

    /// Signs of life without content: the events that open a stream, and those that may then repeat for ever.
    fn keep_alives(&self, answer: &Answer<'_>) -> (Vec<String>, Vec<String>);

    /// Returns the provider's error for an HTTP status, with its usual message.
    fn usual_error(&self, status: u16) -> Rejection;

    /// Encodes an error as a JSON document.
    fn error_document(&self, rejection: &Rejection, request_id: &str) -> Value;

    /// Encodes an error inside a stream that has begun.
    fn error_event(&self, rejection: &Rejection) -> String;

    /// Status of an overloaded provider.
    fn overloaded_status(&self) -> u16;

    /// True if a requested wait is in the header `retry-after`; else it is in the error.
    fn tells_wait_in_header(&self) -> bool {
        true
    }

    /// Name of the header that identifies a response.
    fn request_id_header(&self) -> &'static str;
}

/// A reply and everything that its encoding depends on.
pub(super) struct Answer<'a> {
    pub(super) reply: &'a Reply,
    /// The request that it answers, checked.
    pub(super) body: &'a Value,
    pub(super) streams: bool,
    /// Makes the ids of responses distinct.
    pub(super) serial: u64,
}

/// A rejection, in the providers' terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejection {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
    pub(super) retry_after: Option<String>,
}

impl Rejection {
    pub(super) fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), param: None, code: None, retry_after: None }
    }

    /// Status 400, the response to nearly every mistake.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    #[must_use]
    pub(super) fn param(self, param: impl Display) -> Self {
        Self { param: Some(param.to_string()), ..self }
    }

    #[must_use]
    pub(super) fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }
}

/// Splits a text into a few deltas, so that clients have something to join.
pub(super) fn fragments(text: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 8;
    const SHORTEST: usize = 12;
    crate::pieces::pieces(text, text.len().div_ceil(MOST).max(SHORTEST))
}
