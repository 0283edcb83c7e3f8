//! Driver of all wires: sends a request, reads the reply, and retries where that can help.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use sortie_protocol::{Reply, StopReason};
use tokio::time::{Instant, sleep};

use super::rate_limit::{Permit, RateLimiter, RateLimiters, TooLong};
use super::retry::{Retries, Retry, Server};
use super::server_models::ServerModels;
use crate::route::{CallSettings, KnownNames, Route, shown};
use crate::tokens::estimate;
use crate::tokens::usage_check::{self, Expected, FailedTry};
use crate::transport::{HttpClients, IdleTimeout, http_error, read_reply};
use crate::wire::{self, EncodedRequest, Observe};
use crate::{BoxFuture, ErrorKind, Model, ModelError, ModelEvent, ModelRequest, Terms, WireKind};

/// Parts that all routes of a process share.
pub(crate) struct Shared {
    pub(crate) clients: HttpClients,
    pub(crate) known: KnownNames,
    pub(crate) limiters: RateLimiters,
}

/// Client for the models of one route.
pub(crate) struct WireModel {
    pub(crate) route: Route,
    shared: Arc<Shared>,
    settings: CallSettings,
    limiter: Arc<RateLimiter>,
    server_models: ServerModels,
    /// True once the address has answered.
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
        let limiter = shared.limiters.of(&route);
        let (server_models, answered) = (ServerModels::default(), AtomicBool::new(false));
        Self { route, shared, settings, limiter, server_models, answered }
    }

    /// Returns the ids of all models at the route's server; `None` if it does not list them.
    pub(crate) async fn server_models(&self) -> Option<Vec<String>> {
        self.server_models.ids(&self.shared.clients, &self.route).await
    }

    async fn call_with_retries(&self, request: ModelRequest<'_>, observe: Observe<'_>) -> Result<Reply, ModelError> {
        let kind = self.wire_for(request.model);
        let caps = [self.output_cap(request.model), request.max_output];
        let route = Route { wire: kind, max_output: caps.into_iter().flatten().min(), ..self.route.clone() };
        let encoded = wire::for_kind(kind).encode(&route, &request)?;
        let expected = Expected {
            input_tokens: estimate::request_tokens(&request),
            word_tokens: estimate::word_tokens(&request),
            max_output: route.max_output,
            window: self.terms(request.model).window,
        };
        let sending = Sending { kind, encoded, expected };
        let mut retries = Retries::new(self.settings, request.deadline, request.retries_made);
        let mut failed = None;
        loop {
            let mut permit = match self.limiter.acquire(expected.input_tokens, request.deadline).await {
                Ok(permit) => permit,
                Err(too_long) => return Err(self.held_up(too_long, failed, &retries)),
            };
            observe(ModelEvent::Sending);
            let error = match self.try_once(&sending, &request, &mut permit, observe).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.without_secrets(error),
            };
            permit.settle(
                FailedTry { error: &error, is_accepted: permit.is_accepted(), input_tokens: expected.input_tokens }
                    .tokens(),
            );
            let Some(retry) = self.retry(&error, &permit, &mut retries) else {
                return Err(given_up(error, retries.tries()));
            };
            drop(permit);
            let Retry { attempt, made, wait } = retry;
            observe(ModelEvent::Retrying { attempt, retries_made: made, wait, error: &error });
            sleep(wait).await;
            failed = Some(error);
        }
    }

    /// Returns the retry after a try that was admitted and failed, or `None` if the error is final. If the endpoint is
    /// refusing calls for now, its rate limiter closes for all callers.
    fn retry(&self, error: &ModelError, permit: &Permit<'_>, retries: &mut Retries) -> Option<Retry> {
        let jitter = jitter();
        if matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Overloaded) {
            let wait = permit.refuse(error, self.settings.retry_base, jitter);
            // A reply that had begun may have been paid for, so these retries are limited.
            if !permit.is_accepted() {
                return retries.after_refusal(wait, self.limiter.last_accepted(), Instant::now());
            }
        }
        let server = if self.answered.load(Ordering::Relaxed) { Server::Answered } else { Server::NeverSeen };
        retries.after(error, server, Instant::now(), jitter)
    }

    /// Error for a call that cannot be sent, or sent again, in time.
    fn held_up(&self, too_long: TooLong, failed: Option<ModelError>, retries: &Retries) -> ModelError {
        let address = &self.route.base_url;
        let (reason, retry_after) = match too_long {
            TooLong::Closed(wait) => (format!("{address} accepts no requests for now"), Some(wait)),
            TooLong::Deadline => {
                let next = "allow more time, or run fewer tasks at once";
                (format!("{address} cannot be called before the deadline, at the rate that it accepts; {next}"), None)
            }
        };
        match failed {
            None => given_up(ModelError { retry_after, ..ModelError::new(ErrorKind::RateLimited, reason) }, 0),
            Some(error) => {
                let message = format!("{}; now {reason}", error.message);
                // The usage of the earlier try was already reported with that try.
                given_up(ModelError { message, retry_after, usage: Box::default(), ..error }, retries.tries() - 1)
            }
        }
    }

    /// Returns the wire for a model. It is the route's own, except for other models at OpenAI's own address that only
    /// Responses serves with tools.
    fn wire_for(&self, model: &str) -> WireKind {
        let own = self.route.wire;
        if own != WireKind::OpenAiChat || model == self.route.model || !self.route.is_at_provider() {
            return own;
        }
        let facts = self.shared.known.catalogue.lookup(model);
        facts.and_then(|facts| facts.wire).filter(|wire| wire.same_provider(own)).unwrap_or(own)
    }

    /// Returns the cap on one reply of a model, if one is to be sent. The route's cap applies to the route's own model.
    /// For another model at that address, and for a default cap that the wire must send, the model's own limit counts
    /// too.
    pub(crate) fn output_cap(&self, model: &str) -> Option<u64> {
        let set = self.route.max_output;
        if set.is_some() && model == self.route.model {
            return set;
        }
        let cap = set.or(self.route.wire.default_max_output())?;
        let limit = self.shared.known.catalogue.lookup(model).and_then(|facts| facts.max_output);
        Some(limit.map_or(cap, |limit| limit.min(cap)))
    }

    /// Returns the known facts about a model reached by this route. The route's settings apply only to its own model.
    pub(crate) fn terms(&self, model: &str) -> Terms {
        let facts = self.shared.known.catalogue.lookup(model).unwrap_or_default();
        let window = self.route.window.filter(|_| model == self.route.model).or(facts.window);
        Terms { window, output_cap: self.output_cap(model), max_output: facts.max_output, prices: facts.prices }
    }

    async fn try_once(
        &self,
        sending: &Sending,
        request: &ModelRequest<'_>,
        permit: &mut Permit<'_>,
        observe: Observe<'_>,
    ) -> Result<Reply, ModelError> {
        let Sending { kind, encoded, expected } = sending;
        let mut idle = IdleTimeout::start(request.idle.unwrap_or(self.settings.idle_timeout));
        let answer = self
            .shared
            .clients
            .client_for(&self.route.base_url)?
            .post(encoded.url.clone())
            .headers(encoded.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(encoded.body.clone())
            .send();
        let response = match idle.wait(answer).await {
            Some(Ok(response)) => response,
            Some(Err(error)) => return Err(http_error::not_sent(&error, &self.route, &encoded.url)),
            None => return Err(located(idle.stalled(), encoded)),
        };
        self.answered.store(true, Ordering::Relaxed);
        if !response.status().is_success() {
            return Err(http_error::refused(response, &self.route, request.model, &self.shared.known).await);
        }
        let mut response = http_error::require_stream(response, &self.route, *kind).await?;
        permit.accept();
        let mut partial = String::new();
        let mut observe = |event: ModelEvent<'_>| {
            if let ModelEvent::Text(text) = event {
                partial.push_str(text);
            }
            observe(event);
        };
        let mut decoder = wire::for_kind(*kind).decoder();
        let result = read_reply(&mut response, decoder.as_mut(), idle, &mut observe).await;
        match result {
            Ok(mut reply) => {
                if reply.model.is_empty() {
                    request.model.clone_into(&mut reply.model);
                }
                if ended_at_cap(&reply, expected.max_output) {
                    reply.stop = StopReason::Length;
                }
                usage_check::correct(&mut reply, *expected);
                permit.settle(reply.usage.total_tokens());
                Ok(reply)
            }
            Err(error) => Err(ModelError { partial, usage: Box::new(decoder.usage()), ..located(error, encoded) }),
        }
    }

    /// Masks secrets in an error, because providers and proxies may echo what they were sent.
    fn without_secrets(&self, error: ModelError) -> ModelError {
        let message = self.route.base_url.mask_in(&error.message);
        let message = self.route.api_key.as_ref().map_or_else(|| message.clone(), |key| key.mask_in(&message));
        ModelError { message, ..error }
    }
}

/// A request being sent, unchanged from try to try.
struct Sending {
    kind: WireKind,
    encoded: EncodedRequest,
    expected: Expected,
}

/// True if a reply with calls is exactly as long as its cap. Some servers report calls as the ending whenever there are
/// any, and complete what the cap cut.
fn ended_at_cap(reply: &Reply, cap: Option<u64>) -> bool {
    reply.stop == StopReason::Calls && cap == Some(reply.usage.output_tokens)
}

/// Prefixes an error message with the address.
fn located(error: ModelError, encoded: &EncodedRequest) -> ModelError {
    ModelError { message: format!("{}: {}", shown(&encoded.url), error.message), ..error }
}

/// Completes the final error with the requested wait and the number of tries.
fn given_up(error: ModelError, tries: u32) -> ModelError {
    let asked = match error.retry_after {
        Some(wait) => format!("; it asks to wait {} s", wait.as_secs_f64()),
        None => String::new(),
    };
    let tried = if tries > 1 { format!(" (after {tries} tries)") } else { String::new() };
    ModelError { message: format!("{}{asked}{tried}", error.message), ..error }
}

/// Random number from 0 to 1. If the system has no randomness, the wait is simply the longest.
fn jitter() -> f64 {
    getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::RateLimits;

    fn model(base_url: &str, wire: WireKind, model: &str) -> WireModel {
        let route = Route {
            name: "main".to_owned(),
            wire,
            base_url: base_url.parse().unwrap(),
            api_key: None,
            model: model.to_owned(),
            window: None,
            max_output: None,
            rate_limits: RateLimits::default(),
        };
        let shared =
            Shared { clients: HttpClients::default(), known: KnownNames::default(), limiters: RateLimiters::default() };
        WireModel::new(route, Arc::new(shared), CallSettings::default())
    }

    #[test]
    fn another_model_at_openai_uses_the_wire_that_serves_it() {
        use WireKind::{Anthropic, OpenAiChat, OpenAiResponses};
        let openai = "https://api.openai.com/v1";
        for (base_url, own, asked, expected) in [
            (openai, OpenAiChat, "gpt-6-luna", OpenAiResponses),
            (openai, OpenAiChat, "gpt-4.1", OpenAiChat),
            (openai, OpenAiChat, "claude-opus-5-5", OpenAiChat),
            (openai, OpenAiChat, "unknown", OpenAiChat),
            (openai, OpenAiResponses, "gpt-4.1", OpenAiResponses),
            // Settings for the route's own model, or for another address, are taken as they are.
            (openai, OpenAiChat, "gpt-5.5", OpenAiChat),
            ("https://gateway.example/v1", OpenAiChat, "gpt-6-luna", OpenAiChat),
            ("https://api.anthropic.com", Anthropic, "gpt-6-luna", Anthropic),
        ] {
            assert_eq!(model(base_url, own, "gpt-5.5").wire_for(asked), expected, "{asked} at {base_url}");
        }
    }
}
