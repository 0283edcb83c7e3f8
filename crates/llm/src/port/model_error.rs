//! Errors of a model call, typed because callers decide on them: retry, tell the person, or end the task.

use std::time::Duration;

use sortie_protocol::{FailureCode, Usage};

/// A model call that produced no complete reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ErrorKind,
    /// Describes what happened, where, and what to do next. Never contains a key.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// Wait that the provider asked for.
    pub retry_after: Option<Duration>,
    /// Text that had arrived before the call broke.
    pub partial: String,
    /// Usage of this try as far as its provider reported it, without estimates. Boxed, because every result carries
    /// room for an error.
    pub usage: Box<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// 401, 403: the key is missing, wrong or not allowed.
    Auth,
    /// 404: no such model or endpoint.
    NotFound,
    /// 400, 413, 422: the provider does not accept the request.
    BadRequest,
    /// The conversation no longer fits the model's window.
    ContextLength,
    /// 429.
    RateLimited,
    /// 503, 529, or an overload reported inside a stream.
    Overloaded,
    /// Any other 5xx.
    Server,
    /// No connection could be made.
    Unreachable,
    /// The connection closed before the provider ended the stream.
    Cut,
    /// No content for too long.
    Stalled,
    /// The response is not in the wire's format.
    Garbage,
    /// The reply exceeded any realistic size.
    TooLarge,
    /// The call cannot even be tried, e.g. no key is set.
    Setup,
}

impl ErrorKind {
    /// True if the call may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::Server
            | Self::Unreachable
            | Self::Cut
            | Self::Stalled
            | Self::Garbage => true,
            Self::Auth | Self::NotFound | Self::BadRequest | Self::ContextLength | Self::TooLarge | Self::Setup => {
                false
            }
        }
    }

    /// True if the model may have worked before a failure of this kind.
    pub fn may_have_cost(self) -> bool {
        matches!(self, Self::Cut | Self::Stalled | Self::Garbage | Self::TooLarge)
    }

    /// Returns the stable code for outcomes and events.
    pub fn code(self) -> FailureCode {
        match self {
            Self::Auth => FailureCode::ModelAuth,
            Self::NotFound => FailureCode::ModelNotFound,
            Self::BadRequest => FailureCode::ModelBadRequest,
            Self::ContextLength => FailureCode::ContextLength,
            Self::RateLimited => FailureCode::RateLimited,
            Self::Overloaded => FailureCode::ModelOverloaded,
            Self::Server => FailureCode::ModelServerError,
            Self::Unreachable => FailureCode::ModelUnreachable,
            Self::Cut => FailureCode::ModelStreamCut,
            Self::Stalled => FailureCode::Stalled,
            Self::Garbage => FailureCode::ModelGarbage,
            Self::TooLarge => FailureCode::ModelReplyTooLarge,
            Self::Setup => FailureCode::ModelSetup,
        }
    }
}

impl ModelError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            partial: String::new(),
            usage: Box::default(),
        }
    }
}
