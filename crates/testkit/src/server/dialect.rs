//! What a provider's wire is to the server: how to check, read, answer and refuse. One file implements it each.

use std::fmt::Display;

use serde_json::Value;
use sortie_protocol::Reply;

use super::RecordedRequest;
use crate::script::Asked;

pub(super) trait Dialect: Send + Sync {
    /// What ids of calls begin with.
    fn id_prefix(&self) -> &'static str;

    /// Refuses what the real provider refuses.
    fn check(&self, request: &RecordedRequest, key: Option<&str>) -> Result<(), Rejection>;

    /// Reads a request as far as it can be read; what is missing is empty.
    fn asked<'a>(&self, request: &'a RecordedRequest) -> Asked<'a>;

    /// Whether a request wants its answer as a stream.
    fn streams(&self, request: &RecordedRequest) -> bool {
        request.body["stream"] == true
    }

    /// The whole answer as server-sent events.
    fn events(&self, answer: &Answer<'_>) -> Vec<String>;

    /// The whole answer as one JSON document.
    fn document(&self, answer: &Answer<'_>) -> Value;

    /// Signs of life that carry no content: what opens a stream, and what may then be repeated for ever.
    fn keep_alives(&self, answer: &Answer<'_>) -> (Vec<String>, Vec<String>);

    /// The provider's error for an HTTP status, in its usual words.
    fn usual_error(&self, status: u16) -> Rejection;

    /// An error as a JSON document.
    fn error_document(&self, rejection: &Rejection, request_id: &str) -> Value;

    /// An error inside a stream that has begun.
    fn error_event(&self, rejection: &Rejection) -> String;

    /// The status of an overloaded provider.
    fn overloaded_status(&self) -> u16;

    /// Whether a wait that is asked for stands in the header `retry-after`; else in the error.
    fn tells_wait_in_header(&self) -> bool {
        true
    }

    /// The name of the header that identifies a response.
    fn request_id_header(&self) -> &'static str;
}

/// A reply and what its encoding depends on.
pub(super) struct Answer<'a> {
    pub(super) reply: &'a Reply,
    /// The request that it answers, checked.
    pub(super) body: &'a Value,
    pub(super) streams: bool,
    /// Makes ids of responses distinct.
    pub(super) serial: u64,
}

/// A refusal, in the terms that providers have.
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

    /// 400, the answer to nearly every mistake.
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
