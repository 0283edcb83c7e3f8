//! What a tool is, and what it may see while it runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sortie_protocol::{CallId, Failure, TaskId, TaskOutcome, TaskRequest, ToolOutput, ToolSpec};
use sortie_sandbox::Workspace;
use tokio_util::sync::CancellationToken;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool with its types erased, as the registry and the gate know it.
pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// Whether running it twice does no more than running it once. A recovery re-runs only such calls.
    fn idempotent(&self) -> bool;

    /// Whether a call waits for other tasks; the caller gives its slot back for that time.
    fn delegates(&self) -> bool;

    /// Runs one call. Every failure that a model can act on is a [`ToolOutput`] that says what to do next.
    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput>;
}

/// A tool with typed input. Implement this; [`Tool`] follows from it.
pub trait TypedTool: Send + Sync + 'static {
    type Input: DeserializeOwned + Send;

    const NAME: &'static str;
    const IDEMPOTENT: bool;
    const DELEGATES: bool = false;

    /// What the model reads. Few words, the right ones.
    fn description(&self) -> String;

    /// JSON schema of [`Self::Input`], an object schema.
    fn schema(&self) -> Value;

    fn run(&self, input: Self::Input, context: CallContext<'_>) -> impl Future<Output = ToolOutput> + Send;
}

/// What surrounds one call.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    pub call: &'a CallId,
    pub workspace: &'a Arc<Workspace>,
    /// Set when the call must end; a tool that works for long looks at it.
    pub cancel: &'a CancellationToken,
    pub delegation: &'a dyn Delegation,
}

/// The door to other tasks, bound to the task that makes the call.
pub trait Delegation: Send + Sync {
    /// Starts a child, waits for its end and returns how it ended; an error if it may not start.
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<TaskOutcome, Failure>>;

    /// What the answer to a call is made with besides the outcome.
    fn answer_parts(&self) -> AnswerParts<'_>;
}

/// What the answer to a Task call is made with besides the outcome.
#[derive(Debug, Clone)]
pub struct AnswerParts<'a> {
    /// The working directory relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// An id for a call that started nothing.
    pub spare_id: TaskId,
    /// A random word that no child can know, to fence its report with.
    pub mark: String,
}

impl<T: TypedTool> Tool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: T::NAME.to_owned(), description: self.description(), schema: self.schema() }
    }

    fn idempotent(&self) -> bool {
        T::IDEMPOTENT
    }

    fn delegates(&self) -> bool {
        T::DELEGATES
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            // Models write an empty string where a tool takes no arguments.
            let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
            match serde_json::from_str(arguments) {
                Ok(input) => TypedTool::run(self, input, context).await,
                Err(error) => ToolOutput::failure(format!(
                    "{} was not run: its arguments do not fit ({}). They must match this schema: {}",
                    T::NAME,
                    shortened(&error.to_string()),
                    self.schema()
                )),
            }
        })
    }
}

/// An error about arguments repeats them, however long they are.
fn shortened(error: &str) -> String {
    const MAX_CHARS: usize = 300;
    match error.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… (cut)", &error[..end]),
        None => error.to_owned(),
    }
}
