//! Faults of providers: refusals and breaks in their own words.
//!
//! One reader serves all wires, because servers that are compatible with one provider report errors like another.

mod details;

use std::time::Duration;

use serde_json::Value;

use crate::{ErrorKind, ModelError};

const MAX_MESSAGE_CHARS: usize = 400;

/// Phrases of providers for a conversation that no longer fits.
const CONTEXT_LENGTH: [&str; 11] = [
    "context_length_exceeded",
    "prompt is too long",
    "input is too long",
    "maximum prompt length",
    "too many tokens",
    "exceed context limit",
    "maximum context length",
    "context window",
    "context size",
    "context length",
    "reduce the length of the messages",
];

/// An ambiguous phrase; it means the conversation if it is about its size and not about the output cap.
const TOO_MUCH: &str = "exceeds the maximum";
const CONVERSATION: [&str; 3] = ["token", "prompt", "input"];
const OUTPUT_CAP: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// Phrases of providers for exhausted credit or quota, where waiting does not help.
const NO_QUOTA: [&str; 3] = ["insufficient_quota", "credit balance is too low", "exceeded your current quota"];

/// Words of servers for an unknown model, under any status.
const NO_MODEL: [&str; 5] =
    ["model_not_found", "invalid model name", "not a valid model id", "model not exist", "unknown model"];

/// Phrases of providers for a bad key under an unrelated status.
const BAD_KEY: [&str; 3] = ["api_key_invalid", "api key not valid", "api key expired"];

/// Codes about a key or an account.
const NO_ACCESS: [&str; 5] = ["authentication", "unauthenticated", "invalid_api_key", "permission", "billing"];

/// An error in a provider's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProviderFault {
    /// Its types and codes in lower case, e.g. `overloaded_error`; empty if there are none.
    code: String,
    /// Its message on one line, truncated.
    pub(crate) message: String,
    /// HTTP status inside the payload, if there is one.
    status: Option<u16>,
    /// Wait that the payload asks for, if any.
    pub(crate) retry_after: Option<Duration>,
}

impl ProviderFault {
    /// Reads the body of a refused request: JSON of any known shape, else plain text.
    pub(crate) fn from_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::from_json(&value).unwrap_or_else(|| Self::plain(body)),
            Err(_) => Self::plain(body),
        }
    }

    /// Reads an error object: bare, under `error`, or in a list; `None` if the payload is not an error.
    pub(crate) fn from_json(payload: &Value) -> Option<Self> {
        if let Value::Array(errors) = payload {
            return errors.first().and_then(Self::from_json);
        }
        match payload.get("error") {
            Some(Value::String(message)) => Some(Self::plain(message)),
            Some(error @ Value::Object(_)) => Some(Self::from_object(error)),
            _ if payload.get("message").is_some_and(Value::is_string) => Some(Self::from_object(payload)),
            _ => payload.get("detail").and_then(Value::as_str).map(Self::plain),
        }
    }

    fn from_object(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let codes = [text("type"), text("code"), text("status")].into_iter().chain(details::reasons(error));
        let message = match text("message") {
            "" => error.to_string(),
            message => message.to_owned(),
        };
        Self {
            code: codes.filter(|code| !code.is_empty()).collect::<Vec<_>>().join(" ").to_lowercase(),
            message: one_line(&message),
            status: error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()),
            retry_after: details::retry_delay(error),
        }
    }

    fn plain(text: &str) -> Self {
        let is_page = text.trim_start().starts_with('<');
        Self { message: if is_page { "a web page".to_owned() } else { one_line(text) }, ..Self::default() }
    }

    /// Returns the kind of failure of a response with this status and error.
    pub(crate) fn kind_for_status(&self, status: u16) -> ErrorKind {
        let refused = (400..500).contains(&status);
        if matches!(status, 400 | 413 | 422) && self.says_too_long() {
            return ErrorKind::ContextLength;
        }
        if refused && (self.has_no_quota() || self.says(&BAD_KEY)) {
            return ErrorKind::Auth;
        }
        if refused && !matches!(status, 401 | 402 | 429) && self.says_no_model() {
            return ErrorKind::NotFound;
        }
        match status {
            401..=403 => ErrorKind::Auth,
            300..=399 | 404 | 405 | 410 => ErrorKind::NotFound,
            429 => ErrorKind::RateLimited,
            503 | 529 => ErrorKind::Overloaded,
            // Timeout, conflict and "too early" mean "try again", not "wrong".
            408 | 409 | 425 | 500.. => ErrorKind::Server,
            _ => ErrorKind::BadRequest,
        }
    }

    /// Returns the kind of failure inside a stream, where there is no status.
    pub(crate) fn kind_in_stream(&self) -> ErrorKind {
        let codes = |names: &[&str]| names.iter().any(|name| self.code.contains(name));
        match self.status {
            Some(status @ 300..) => self.kind_for_status(status),
            _ if self.says(&["overloaded"]) || codes(&["unavailable"]) => ErrorKind::Overloaded,
            _ if codes(&["rate_limit"]) => ErrorKind::RateLimited,
            _ if self.says_too_long() => ErrorKind::ContextLength,
            _ if self.has_no_quota() || self.says(&BAD_KEY) || codes(&NO_ACCESS) => ErrorKind::Auth,
            _ if codes(&["resource_exhausted"]) => ErrorKind::RateLimited,
            _ if codes(&["not_found"]) || self.says_no_model() => ErrorKind::NotFound,
            // Invalid requests, policy violations and bad images will fail again.
            _ if codes(&["invalid_", "_policy", "image"]) => ErrorKind::BadRequest,
            _ => ErrorKind::Server,
        }
    }

    /// Builds the error of a call whose stream reported this fault.
    pub(crate) fn into_error_in_stream(self) -> ModelError {
        let kind = self.kind_in_stream();
        ModelError { retry_after: self.retry_after, ..ModelError::new(kind, self.message) }
    }

    /// True if credit or quota is exhausted. Google uses the same phrase for a limit that only needs a wait, and then
    /// gives the wait.
    fn has_no_quota(&self) -> bool {
        self.says(&NO_QUOTA) && self.retry_after.is_none()
    }

    fn says_no_model(&self) -> bool {
        let is_missing = self.says(&["does not exist"]) && self.says(&["model"]);
        is_missing || self.says(&NO_MODEL)
    }

    fn says_too_long(&self) -> bool {
        let too_much = self.says(&[TOO_MUCH]) && self.says(&CONVERSATION) && !self.says(&OUTPUT_CAP);
        too_much || self.says(&CONTEXT_LENGTH)
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| self.code.contains(phrase) || message.contains(phrase))
    }
}

/// Puts a text on one line and truncates it.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
