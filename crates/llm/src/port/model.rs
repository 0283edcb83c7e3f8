//! Port to one model: a request, its progress, and the reply.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use sortie_protocol::{Message, Reply, ToolSpec, Usage};

use super::model_error::ModelError;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A way to ask one model.
pub trait Model: Send + Sync {
    /// Makes one model call, retries included; a whole reply or an error comes back, never half a call.
    ///
    /// Each try accounts for itself alone: the reply's usage is that of the try that brought it, so that it also says
    /// how large the conversation is. What broken tries used stands in the errors of [`ModelEvent::Retrying`] and in
    /// the one that comes back.
    ///
    /// The ids of its calls are the provider's: perhaps empty, perhaps twice the same. Who keeps the history makes them
    /// unique.
    ///
    /// Dropping the future ends the call and closes its connection.
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// All that a model is told. Borrowed from the task: no turn copies the history.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model's id at its provider.
    pub model: &'a str,
    pub system: &'a str,
    pub tools: &'a [ToolSpec],
    pub messages: &'a [Message],
    pub tool_choice: ToolChoice,
    /// A cap on the reply's tokens. Where the route has a lower one, that holds.
    pub max_output: Option<u64>,
    /// Retries do not start after it.
    pub deadline: Option<tokio::time::Instant>,
    /// How long the call may bring no content, where that is not as it is set for all.
    pub idle: Option<Duration>,
    /// Retries that were made before in a call with another cap. They count as its own, and its first try is the last
    /// of them.
    pub retries_made: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    /// The tools stay in the request, so that its prefix stays the same, but must not be called.
    None,
}

/// Progress of a call, for displays and for what is kept when a call is broken off. Never the result itself.
#[derive(Debug)]
pub enum ModelEvent<'a> {
    /// A try is sent now, and may be paid for from here on. Until then, and between [`Self::Retrying`] and the next
    /// one, nothing is under way.
    Sending,
    /// More text of the reply.
    Text(&'a str),
    /// More reasoning, where the provider shows it.
    Reasoning(&'a str),
    /// A tool call begins; its arguments follow.
    CallBegan { tool: &'a str },
    /// What the running try has used so far, as its provider says. A later figure replaces an earlier one.
    Used(Usage),
    /// This try failed; all that it streamed is void, and another try follows after `wait`. What it used is in `error`.
    /// Who breaks the call off here and makes it anew says `retries_made` then; refusals that all wait out are not
    /// among them.
    Retrying { attempt: u32, retries_made: u32, wait: Duration, error: &'a ModelError },
}
