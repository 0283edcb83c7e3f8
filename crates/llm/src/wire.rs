//! Wires: the JSON of each provider's API, written by hand, one file each.
//!
//! A [`Wire`] turns a request into bytes, and the events of the response stream into a [`Reply`]. It does no I/O and
//! keeps no time; sending, waiting and retrying belong to the rooms above. A new wire is one file here, one kind in
//! [`WireKind`] and one row in `support.rs`.

mod anthropic;
mod assemble;
mod attachment;
mod failure_mark;
mod fault;
mod gemini;
mod openai_chat;
mod openai_responses;
mod replay;
mod support;
mod usage_counts;

use std::fmt;

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::Serialize;
use serde_json::Value;
use sortie_protocol::{Reply, Usage};

pub(crate) use attachment::attachment_tokens;
pub(crate) use fault::ProviderFault;
pub use support::{Support, support};

use crate::route::Route;
use crate::{ErrorKind, ModelError, ModelEvent, ModelRequest, WireKind};

/// A provider's API.
pub trait Wire: Send + Sync {
    /// Encodes the request, ready to be posted. Equal requests give equal bytes.
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError>;

    /// Creates a decoder for the response stream of one request.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Returns the question for the models of the route's server.
    fn model_list(&self, route: &Route) -> Result<ListQuery, ModelError>;

    /// Reads the usage from a reply that came as a single document. Such a reply is rejected, but it was paid for.
    fn usage_in(&self, document: &Value) -> Usage;
}

/// Returns the wire of a kind.
pub fn for_kind(kind: WireKind) -> &'static dyn Wire {
    match kind {
        WireKind::Anthropic => &anthropic::Anthropic,
        WireKind::Gemini => &gemini::Gemini,
        WireKind::OpenAiChat => &openai_chat::OpenAiChat,
        WireKind::OpenAiResponses => &openai_responses::OpenAiResponses,
    }
}

/// An encoded request. Its key is in a header marked as sensitive, which does not print.
#[derive(Debug, Clone)]
pub struct EncodedRequest {
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A request for a list, ready to be sent. Its key is in a header as in [`EncodedRequest`].
#[derive(Debug, Clone)]
pub struct ListQuery {
    pub url: Url,
    pub headers: HeaderMap,
}

/// Callback that receives a call's progress.
pub type Observe<'a> = &'a mut (dyn FnMut(ModelEvent<'_>) + Send);

/// Assembles one reply from the events of its stream.
pub trait Decoder: Send {
    /// Reads the payload of the next event.
    fn feed(&mut self, data: &str, observe: Observe<'_>) -> Result<Progress, ModelError>;

    /// Returns the reply once the stream is over, or an error that says what is missing. Call it once.
    fn finish(&mut self) -> Result<Reply, ModelError>;

    /// Usage reported by the provider so far, even if no reply comes of it.
    fn usage(&self) -> Usage;
}

/// Meaning of an event for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A sign of life without content.
    Quiet,
    /// A sign of life while the model reasons without showing it.
    Reasoning,
    /// More of the reply.
    Content,
    /// The reply is complete; only accounting may follow.
    Whole,
    /// The provider ended the stream.
    Done,
}

fn json_body(body: &impl Serialize) -> Result<Bytes, ModelError> {
    serde_json::to_vec(body).map(Bytes::from).map_err(|error| {
        ModelError::new(ErrorKind::BadRequest, format!("the request cannot be written as JSON: {error}"))
    })
}

/// The key as a header value, after `prefix`.
fn key_header(route: &Route, prefix: &str) -> Result<Option<HeaderValue>, ModelError> {
    let Some(key) = &route.api_key else { return Ok(None) };
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.reveal())).map_err(|_| {
        let message = format!(
            "the key of route `{}` has characters that no header can carry (a line end?); correct {}",
            route.name,
            route.key_setting()
        );
        ModelError::new(ErrorKind::Setup, message)
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Headers with the key as a bearer token, as on both wires of OpenAI.
fn bearer_headers(route: &Route) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key_header(route, "Bearer ")? {
        headers.insert(AUTHORIZATION, key);
    }
    Ok(headers)
}

/// Builds an error for a payload that the wire does not allow, quoting the useful part of it.
fn garbage(reason: impl fmt::Display, data: &str) -> ModelError {
    const SHOWN: usize = 80;
    let shown: String = data.chars().take(SHOWN).collect();
    let more = if shown.len() < data.len() { "…" } else { "" };
    ModelError::new(
        ErrorKind::Garbage,
        format!("the provider's response is not in its format: {reason} in `{shown}{more}`"),
    )
}

/// Builds the error that a payload reports, in any shape that servers use; else a garbage error.
fn fault_or_garbage(reason: impl fmt::Display, data: &str) -> ModelError {
    let fault = serde_json::from_str(data).ok().and_then(|payload| ProviderFault::from_json(&payload));
    fault.map_or_else(|| garbage(reason, data), ProviderFault::into_error_in_stream)
}

/// Most calls in one reply. A model that makes more has gone wrong, and each would cost time and memory.
pub(crate) const MAX_CALLS: usize = 1024;

pub(crate) fn too_many_calls() -> ModelError {
    let message = format!("the reply makes more than {MAX_CALLS} calls; none of them was run");
    ModelError::new(ErrorKind::TooLarge, message)
}

fn cut() -> ModelError {
    ModelError::new(ErrorKind::Cut, "the stream broke off before its end")
}

/// True if a delta is empty. Empty deltas do not keep a call alive.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn progress_of(text: &str) -> Progress {
    if is_blank(text) { Progress::Quiet } else { Progress::Content }
}
