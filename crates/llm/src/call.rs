//! The driver of every wire: send, read, and try again where that can help.

use std::sync::Arc;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use sortie_protocol::Reply;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::HttpClients;
use crate::retry::Retries;
use crate::route::{CallSettings, Route, shown};
use crate::stream::{IdleTimer, read_reply};
use crate::wire::{EncodedRequest, Observe, Wire};
use crate::{BoxFuture, Model, ModelError, ModelEvent, ModelRequest, failure};

/// The models of one route.
pub(crate) struct WireModel {
    route: Arc<Route>,
    clients: Arc<HttpClients>,
    settings: CallSettings,
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
    pub(crate) fn new(route: Arc<Route>, clients: Arc<HttpClients>, settings: CallSettings) -> Self {
        Self { route, clients, settings }
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
            let Some(retry) = retries.after(&error, Instant::now(), jitter()) else {
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
            Ok(reply) if reply.model.is_empty() => Ok(Reply { model: model.to_owned(), ..reply }),
            Ok(reply) => Ok(reply),
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
