//! The driver of every wire: send, read, and try again where that can help.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use sortie_protocol::{Part, Reply};
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::HttpClients;
use crate::retry::Retries;
use crate::route::{CallSettings, KnownNames, Route, shown};
use crate::stream::{IdleTimer, read_reply};
use crate::wire::{EncodedRequest, Observe, weight};
use crate::{BoxFuture, Model, ModelError, ModelEvent, ModelRequest, WireKind, failure};

/// What all routes of a process have in common.
pub(crate) struct Shared {
    pub(crate) clients: HttpClients,
    pub(crate) known: KnownNames,
}

/// The models of one route.
pub(crate) struct WireModel {
    pub(crate) route: Route,
    shared: Arc<Shared>,
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
    pub(crate) fn new(route: Route, shared: Arc<Shared>, settings: CallSettings) -> Self {
        Self { route, shared, settings, answered: AtomicBool::new(false) }
    }

    async fn call_with_retries(&self, request: ModelRequest<'_>, observe: Observe<'_>) -> Result<Reply, ModelError> {
        let kind = self.wire_for(request.model);
        let route = Route { wire: kind, max_output: self.output_cap(request.model), ..self.route.clone() };
        let encoded = kind.wire().encode(&route, &request)?;
        let mut retries = Retries::new(self.settings, request.deadline);
        loop {
            let error = match self.try_once(kind, &encoded, &request, observe).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.without_secrets(error),
            };
            let answered = self.answered.load(Ordering::Relaxed);
            let Some(retry) = retries.after(&error, answered, Instant::now(), jitter()) else {
                return Err(given_up(error, retries.tries()));
            };
            observe(ModelEvent::Retrying { attempt: retry.attempt, wait: retry.wait, error: &error });
            sleep(retry.wait).await;
        }
    }

    /// The wire for a model: the route's own, except for another model at OpenAI's own address that only Responses
    /// serves with tools.
    fn wire_for(&self, model: &str) -> WireKind {
        let own = self.route.wire;
        if own != WireKind::OpenAiChat || model == self.route.model || !self.route.is_at_provider() {
            return own;
        }
        let facts = self.shared.known.catalogue.lookup(model);
        facts.and_then(|facts| facts.wire).filter(|wire| wire.same_provider(own)).unwrap_or(own)
    }

    /// The cap on one reply of a model, if one is to be sent. What is set for a route holds for the route's own model; for
    /// another one at the same address, and where the wire must send a cap that nobody set, the model's limit counts too.
    pub(crate) fn output_cap(&self, model: &str) -> Option<u64> {
        let set = self.route.max_output;
        if set.is_some() && model == self.route.model {
            return set;
        }
        let cap = set.or(self.route.wire.default_max_output())?;
        let limit = self.shared.known.catalogue.lookup(model).and_then(|facts| facts.max_output);
        Some(limit.map_or(cap, |limit| limit.min(cap)))
    }

    async fn try_once(
        &self,
        wire: WireKind,
        encoded: &EncodedRequest,
        request: &ModelRequest<'_>,
        observe: Observe<'_>,
    ) -> Result<Reply, ModelError> {
        let idle = IdleTimer::start(self.settings.idle_timeout);
        let sending = self
            .shared
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
            return Err(failure::refused(response, &self.route, request.model, &self.shared.known).await);
        }
        let mut response = failure::require_stream(response, &self.route, wire).await?;
        let mut partial = String::new();
        let mut observe = |event: ModelEvent<'_>| {
            if let ModelEvent::Text(text) = event {
                partial.push_str(text);
            }
            observe(event);
        };
        let mut decoder = wire.wire().decoder();
        let result = read_reply(&mut response, decoder.as_mut(), idle, &mut observe).await;
        match result {
            Ok(reply) => {
                let sent_tokens = || estimated_input(request, wire, encoded.body.len());
                Ok(completed(reply, request.model, sent_tokens))
            }
            Err(error) => Err(ModelError { partial, usage: Box::new(decoder.usage()), ..located(error, encoded) }),
        }
    }

    /// Providers and proxies may repeat what they were sent.
    fn without_secrets(&self, error: ModelError) -> ModelError {
        let message = self.route.base_url.mask_in(&error.message);
        let message = self.route.api_key.as_ref().map_or_else(|| message.clone(), |key| key.mask_in(&message));
        ModelError { message, ..error }
    }
}

/// A usual size of a token in text.
const BYTES_PER_TOKEN: usize = 4;

/// Adds what the provider left out: the model that was asked, and the usage.
///
/// A side of the usage that was not reported is estimated from its size, so that limits on tokens hold on servers that do
/// not count. Nothing in the reply tells an estimate from a report.
fn completed(mut reply: Reply, model: &str, sent_tokens: impl FnOnce() -> u64) -> Reply {
    if reply.model.is_empty() {
        model.clone_into(&mut reply.model);
    }
    if reply.usage.total_tokens() == reply.usage.output_tokens {
        reply.usage.input_tokens = sent_tokens();
    }
    if reply.usage.output_tokens == 0 {
        let written: usize = reply.parts.iter().map(written_bytes).sum();
        reply.usage.output_tokens = written.div_ceil(BYTES_PER_TOKEN) as u64;
    }
    reply
}

/// About how many tokens a request has: files by what they are to a model, all else by its bytes.
fn estimated_input(request: &ModelRequest<'_>, wire: WireKind, sent_bytes: usize) -> u64 {
    let files = weight(request.messages, wire);
    let text = sent_bytes.saturating_sub(files.bytes).div_ceil(BYTES_PER_TOKEN);
    (text + files.tokens) as u64
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

#[cfg(test)]
mod tests {
    use super::*;

    fn model(base_url: &str, wire: WireKind, model: &str) -> WireModel {
        let route = Route {
            name: "main".to_owned(),
            wire,
            base_url: base_url.parse().unwrap(),
            api_key: None,
            model: model.to_owned(),
            window: None,
            max_output: None,
        };
        let shared = Shared { clients: HttpClients::default(), known: KnownNames::default() };
        WireModel::new(route, Arc::new(shared), CallSettings::default())
    }

    #[test]
    fn another_model_at_openai_goes_over_the_wire_that_serves_it() {
        use WireKind::{Anthropic, OpenAiChat, OpenAiResponses};
        let openai = "https://api.openai.com/v1";
        for (base_url, own, asked, expected) in [
            (openai, OpenAiChat, "gpt-6-luna", OpenAiResponses),
            (openai, OpenAiChat, "gpt-4.1", OpenAiChat),
            (openai, OpenAiChat, "claude-opus-5-5", OpenAiChat),
            (openai, OpenAiChat, "unknown", OpenAiChat),
            (openai, OpenAiResponses, "gpt-4.1", OpenAiResponses),
            // What the user set for the route's own model, or for another address, is meant so.
            (openai, OpenAiChat, "gpt-5.5", OpenAiChat),
            ("https://gateway.example/v1", OpenAiChat, "gpt-6-luna", OpenAiChat),
            ("https://api.anthropic.com", Anthropic, "gpt-6-luna", Anthropic),
        ] {
            assert_eq!(model(base_url, own, "gpt-5.5").wire_for(asked), expected, "{asked} at {base_url}");
        }
    }
}
