//! Port to one model: a request, its progress, and the reply.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use sortie_protocol::{Message, Reply, ToolSpec, Usage};

use super::model_error::ModelError;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Access to one model.
pub trait Model: Send + Sync {
    /// Makes one model call, retries included, and returns a complete reply or an error.
    ///
    /// The reply's usage is that of the successful try alone, so it also shows the size of the conversation. The usage
    /// of failed tries is in the errors of [`ModelEvent::Retrying`] and in the returned error.
    ///
    /// The ids of its tool calls are the provider's, and may be empty or duplicated. The keeper of the history makes
    /// them unique.
    ///
    /// Dropping the future ends the call and closes its connection.
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// Complete input of a model call. Borrowed from the task, so no turn copies the history.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model's id at its provider.
    pub model: &'a str,
    pub system: &'a str,
    pub tools: &'a [ToolSpec],
    pub messages: &'a [Message],
    pub tool_choice: ToolChoice,
    /// Cap on the reply's tokens. The route's cap applies if it is lower.
    pub max_output: Option<u64>,
    /// No retry starts after this time.
    pub deadline: Option<tokio::time::Instant>,
    /// Idle timeout of this call, if it differs from the general one.
    pub idle: Option<Duration>,
    /// Retries already made in an earlier call with another cap. They count as this call's own, and its first try is
    /// the last of them.
    pub retries_made: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    /// The tools stay in the request, to keep its prefix unchanged, but must not be called.
    None,
}

/// Progress of a call, for displays and for saving a partial reply. Never the result itself.
#[derive(Debug)]
pub enum ModelEvent<'a> {
    /// A try is being sent, and may cost from here on. Before it, and after each [`Self::Retrying`], nothing is under
    /// way.
    Sending,
    /// More text of the reply.
    Text(&'a str),
    /// More reasoning, if the provider shows it.
    Reasoning(&'a str),
    /// A tool call begins; its arguments follow.
    CallBegan { tool: &'a str },
    /// Usage of the current try so far, as reported by its provider. A later figure replaces an earlier one.
    Used(Usage),
    /// This try failed, everything it streamed is void, and another try follows after `wait`. Its usage is in `error`.
    /// A caller that breaks off here and makes the call anew passes `retries_made` on; it excludes refusals that all
    /// callers wait out.
    Retrying { attempt: u32, retries_made: u32, wait: Duration, error: &'a ModelError },
}
