//! Refusals of requests, each as an HTTP status and a JSON-RPC error.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use rmcp::model::{ErrorCode, RequestId};
use serde_json::json;
use thiserror::Error;

use crate::http_request::PATH;
use crate::http_request::answer::Answer;
use crate::session::open_requests::NotBegun;

/// Code of refusals that are not the request's fault.
const SERVER_STATE: ErrorCode = ErrorCode(-32000);

const JSON: HeaderValue = HeaderValue::from_static("application/json");

#[derive(Debug, Error)]
pub(crate) enum Refusal {
    #[error("this server is not addressed by that name; use the address that it announced when it started")]
    Host,
    #[error("requests from pages of other sites are refused")]
    Origin,
    #[error("nothing is served here; the protocol's path is {PATH}")]
    Path,
    #[error("send `Authorization: Bearer` with the token; the server named the file that holds it when it started")]
    Token { is_wrong: bool },
    #[error("the server's token cannot be read now; what the server printed says why")]
    NoToken,
    #[error("send the message with `Content-Type: application/json`")]
    MediaType,
    #[error("the body has more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the body did not come in time")]
    Slow,
    #[error("the body ended early")]
    BrokenOff,
    #[error("the body is not valid JSON: {reason}")]
    NotJson { reason: String },
    #[error("send one message with each request; batches are no longer part of the protocol")]
    Batch,
    #[error("the body is not a message of this protocol: it is neither a request, a notification nor a response")]
    NotAMessage { id: Option<RequestId> },
    #[error("there is no such session; start one with `initialize`")]
    UnknownSession,
    #[error(transparent)]
    NotBegun(#[from] NotBegun),
    #[error("{n_sessions} sessions are in use; end one of them, or try again later")]
    TooManySessions { n_sessions: usize },
    #[error("too many connections are open; try again later")]
    TooManyConnections,
    #[error("the server is shutting down")]
    Ending,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Path | Self::UnknownSession => StatusCode::NOT_FOUND,
            Self::Token { .. } => StatusCode::UNAUTHORIZED,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::BrokenOff
            | Self::NotJson { .. }
            | Self::Batch
            | Self::NotAMessage { .. }
            | Self::NotBegun(NotBegun::IdInUse { .. } | NotBegun::IdCancelled { .. }) => StatusCode::BAD_REQUEST,
            Self::NotBegun(NotBegun::TooMany { .. }) => StatusCode::TOO_MANY_REQUESTS,
            Self::NoToken | Self::TooManySessions { .. } | Self::TooManyConnections | Self::Ending => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::NotJson { .. } => ErrorCode::PARSE_ERROR,
            Self::NotBegun(NotBegun::TooMany { .. }) => SERVER_STATE,
            _ if self.status().is_server_error() => SERVER_STATE,
            _ => ErrorCode::INVALID_REQUEST,
        }
    }

    /// Id of the request, if it could be read.
    fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::NotAMessage { id } => id.as_ref(),
            Self::NotBegun(NotBegun::IdInUse { id } | NotBegun::IdCancelled { id } | NotBegun::TooMany { id, .. }) => {
                Some(id)
            }
            _ => None,
        }
    }

    fn challenge(&self) -> Option<HeaderValue> {
        let Self::Token { is_wrong } = self else { return None };
        let challenge =
            if *is_wrong { "Bearer realm=\"sortie\", error=\"invalid_token\"" } else { "Bearer realm=\"sortie\"" };
        Some(HeaderValue::from_static(challenge))
    }

    pub(crate) fn into_answer(self) -> Answer {
        let mut answer = Response::new(error_body(self.request_id(), self.code(), &self.to_string()));
        *answer.status_mut() = self.status();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(challenge) = self.challenge() {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}

/// Turns the protocol library's plain-text refusals into JSON-RPC errors with the same status and headers.
pub(crate) async fn in_json(answer: Answer, id: Option<RequestId>) -> Answer {
    let code = if answer.status().is_server_error() { ErrorCode::INTERNAL_ERROR } else { ErrorCode::INVALID_REQUEST };
    let (mut head, body) = answer.into_parts();
    let Ok(text) = body.collect().await;
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_TYPE, JSON);
    Response::from_parts(head, error_body(id.as_ref(), code, &String::from_utf8_lossy(&text.to_bytes())))
}

fn error_body(id: Option<&RequestId>, code: ErrorCode, message: &str) -> BoxBody<Bytes, Infallible> {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": message } });
    Full::new(Bytes::from(body.to_string())).boxed()
}
