//! The driver of every wire: send, read, and try again where that can help.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use sortie_protocol::{Part, Reply};
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::HttpClients;
use crate::retry::Retries;
use crate::route::{CallSettings, Route, shown};
use crate::stream::{IdleTimer, read_reply};
use crate::wire::{EncodedRequest, Observe, Wire};
use crate::{BoxFuture, Model, ModelError, ModelEvent, ModelRequest, failure};

/// The models of one route.
pub(crate) struct WireModel {
    pub(crate) route: Route,
    clients: Arc<HttpClients>,
    settings: CallSettings,
    /// Whether the address has ever answered: one that did is worth waiting for when it is gone.
    answered: AtomicBool,
}

impl Model for WireModel {
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.call_with_retries(request, observe))
    }
}

impl WireModel {
    pub(crate) fn new(route: Route, clients: Arc<HttpClients>, settings: CallSettings) -> Self {
        Self { route, clients, settings, answered: AtomicBool::new(false) }
    }

    async fn call_with_retries(&self, request: ModelRequest<'_>, observe: Observe<'_>) -> Result<Reply, ModelError> {
        let wire = self.route.wire.wire();
        let encoded = wire.encode(&self.route, &request)?;
        let mut retries = Retries::new(self.settings, request.deadline);
        loop {
            let error = match self.try_once(wire, &encoded, request.model, observe).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.without_key(error),
            };
            let answered = self.answered.load(Ordering::Relaxed);
            let Some(retry) = retries.after(&error, answered, Instant::now(), jitter()) else {
                return Err(given_up(error, retries.tries()));
            };
            observe(ModelEvent::Retrying { attempt: retry.attempt, wait: retry.wait, error: &error });
            sleep(retry.wait).await;
        }
    }

    async fn try_once(
        &self,
        wire: &dyn Wire,
        encoded: &EncodedRequest,
        model: &str,
        observe: Observe<'_>,
    ) -> Result<Reply, ModelError> {
        let idle = IdleTimer::start(self.settings.idle_timeout);
        let sending = self
            .clients
            .client_for(&self.route.base_url)?
            .post(encoded.url.clone())
            .headers(encoded.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(encoded.body.clone())
            .send();
        let response = match timeout_at(idle.until(), sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(failure::not_sent(&error, &self.route, &encoded.url)),
            Err(_) => return Err(located(idle.stalled(), encoded)),
        };
        self.answered.store(true, Ordering::Relaxed);
        if !response.status().is_success() {
            return Err(failure::refused(response, &self.route, model).await);
        }
        let mut response = failure::require_stream(response, &self.route).await?;
        let mut partial = String::new();
        let mut observe = |event: ModelEvent<'_>| {
            if let ModelEvent::Text(text) = event {
                partial.push_str(text);
            }
            observe(event);
        };
        let result = read_reply(&mut response, wire.decoder().as_mut(), idle, &mut observe).await;
        match result {
            Ok(reply) => Ok(completed(reply, model, encoded.body.len())),
            Err(error) => Err(ModelError { partial, ..located(error, encoded) }),
        }
    }

    /// Providers and proxies may repeat what they were sent.
    fn without_key(&self, error: ModelError) -> ModelError {
        match &self.route.api_key {
            Some(key) => ModelError { message: key.mask_in(&error.message), ..error },
            None => error,
        }
    }
}

/// Adds what the provider left out: the model that was asked, and the usage.
///
/// A side of the usage that was not reported is estimated from its size, at four bytes a token, so that limits on tokens
/// hold on servers that do not count. Nothing in the reply tells an estimate from a report.
fn completed(mut reply: Reply, model: &str, sent_bytes: usize) -> Reply {
    const BYTES_PER_TOKEN: usize = 4;
    if reply.model.is_empty() {
        model.clone_into(&mut reply.model);
    }
    if reply.usage.total_tokens() == reply.usage.output_tokens {
        reply.usage.input_tokens = sent_bytes.div_ceil(BYTES_PER_TOKEN) as u64;
    }
    if reply.usage.output_tokens == 0 {
        let written: usize = reply.parts.iter().map(written_bytes).sum();
        reply.usage.output_tokens = written.div_ceil(BYTES_PER_TOKEN) as u64;
    }
    reply
}

fn written_bytes(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Reasoning(reasoning) => reasoning.item.to_string().len(),
        Part::Call(call) => call.tool.len() + call.arguments.len(),
    }
}

/// Says where, for errors that only say what.
fn located(error: ModelError, encoded: &EncodedRequest) -> ModelError {
    ModelError { message: format!("{}: {}", shown(&encoded.url), error.message), ..error }
}

/// The error that stands, with what became of it.
fn given_up(error: ModelError, tries: u32) -> ModelError {
    let asked = match error.retry_after {
        Some(wait) => format!("; it asks to wait {} s", wait.as_secs_f64()),
        None => String::new(),
    };
    let tried = if tries > 1 { format!(" (after {tries} tries)") } else { String::new() };
    ModelError { message: format!("{}{asked}{tried}", error.message), ..error }
}

/// A number from 0 to 1. Where the system has no randomness the wait is simply the longest.
fn jitter() -> f64 {
    getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX))
}
