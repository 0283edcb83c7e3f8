//! What a tool is, and what it may see while it runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sortie_protocol::{
    CallId, Failure, Fault, Launched, Resource, TaskId, TaskOutcome, TaskRequest, ToolOutput, ToolSpec,
};
use sortie_sandbox::Workspace;
use sortie_sandbox::process::KeeperMark;
use tokio_util::sync::CancellationToken;

use crate::kin::Kin;
use crate::seen::Seen;
use crate::shell::Shells;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool with its types erased, as the registry and the gate know it.
pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// Whether running it twice does no more than running it once. A recovery re-runs only such calls.
    fn idempotent(&self) -> bool;

    /// Whether a call that was broken off finds out, made again under its own id, whether it has had its effect, so that it
    /// has it once. A recovery makes such a call again, if it may still run.
    fn settles_itself(&self) -> bool {
        false
    }

    /// What a call has to do with others of its turn, all of which run at the same time.
    fn order(&self, _arguments: &str) -> Order {
        Order::Free
    }

    /// A digest of its definition, where somebody else may change that under the same name: what a person has approved of
    /// holds only as long as it is the same.
    fn pin(&self) -> Option<&str> {
        None
    }

    /// How much of its text a model reads, where the tool does not bound it itself; the whole is kept in a file.
    fn most_bytes(&self) -> Option<usize> {
        None
    }

    /// Whether a call waits for other tasks; the caller gives its slot back for that time.
    fn delegates(&self) -> bool;

    /// Whether it is of use only to a task that may have children.
    fn needs_children(&self) -> bool {
        false
    }

    /// What a call would touch, worked out as far as it can be before it runs: the grant decides on it. Arguments or
    /// paths that make no sense touch nothing; the call itself says what is wrong with them.
    fn resource(&self, _arguments: &str, _context: CallContext<'_>) -> Resource {
        Resource::Nothing
    }

    /// What a call would change, as a diff for the person who is asked; `None` where the tool cannot tell.
    fn preview<'a>(&'a self, _arguments: &'a str, _context: CallContext<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    /// The answer to a call that was refused in plain words, in the form that this tool's answers have; `None` where the
    /// words are answer enough.
    fn refused(&self, _arguments: &str, _context: CallContext<'_>, _refusal: &ToolOutput) -> Option<ToolOutput> {
        None
    }

    /// Runs one call. Every failure that a model can act on is a [`ToolOutput`] that says what to do next.
    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput>;
}

/// What a call has to do with those before it in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Free,
    /// It says something: what is said in one turn is said in the order of the calls.
    Says,
    /// It looks at others, who have by then what was said to them before.
    Looks,
}

/// A tool with typed input. Implement this; [`Tool`] follows from it.
pub trait TypedTool: Send + Sync + 'static {
    type Input: DeserializeOwned + Send;

    const NAME: &'static str;
    const IDEMPOTENT: bool;
    const SETTLES_ITSELF: bool = false;
    const ORDER: Order = Order::Free;
    const DELEGATES: bool = false;
    const NEEDS_CHILDREN: bool = false;

    /// What the model reads. Few words, the right ones.
    fn description(&self) -> String;

    /// JSON schema of [`Self::Input`], an object schema.
    fn schema(&self) -> Value;

    /// See [`Tool::resource`].
    fn resource(&self, _input: &Self::Input, _context: CallContext<'_>) -> Resource {
        Resource::Nothing
    }

    /// See [`Tool::preview`].
    fn preview(&self, _input: Self::Input, _context: CallContext<'_>) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    fn run(&self, input: Self::Input, context: CallContext<'_>) -> impl Future<Output = ToolOutput> + Send;
}

/// A path as the grant knows it; nothing, where it leads nowhere that a tool could go.
pub(crate) fn path_resource(path: &str, context: CallContext<'_>) -> Resource {
    context.workspace.locate(path).map_or(Resource::Nothing, Resource::Path)
}

/// What surrounds one call.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    pub call: &'a CallId,
    pub workspace: &'a Arc<Workspace>,
    /// Set when the call must end; a tool that works for long looks at it.
    pub cancel: &'a CancellationToken,
    pub delegation: &'a dyn Delegation,
    /// The tasks around the one that makes the call.
    pub kin: &'a dyn Kin,
    /// Whether the output is wanted as an object as well ([`ToolOutput::payload`]).
    pub structured: bool,
    /// What this task has read.
    pub seen: &'a Seen,
    /// A small model for questions about what a tool found, if there is one.
    pub assistant: Option<&'a dyn Assistant>,
    /// The commands of this task; `None` where there is no shell.
    pub shells: Option<&'a Shells>,
    /// Whoever follows along, if anybody does.
    pub progress: Option<&'a dyn Progress>,
}

/// Tells people how a call comes along.
pub trait Progress: Send + Sync {
    fn tell(&self, text: String) -> BoxFuture<'_, ()>;

    /// Notes who keeps the command that the call has started, so that it can be ended should this program be killed.
    fn runs_under(&self, _keeper: KeeperMark) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The door to a small model, bound to the task that makes the call and pays for it.
pub trait Assistant: Send + Sync {
    /// Answers a question about a text. The text is data: `system` says how it is told apart.
    fn answer<'a>(
        &'a self,
        system: &'a str,
        text: &'a str,
        question: &'a str,
    ) -> BoxFuture<'a, Result<String, Failure>>;
}

/// The door to other tasks, bound to the task that makes the call.
pub trait Delegation: Send + Sync {
    /// Starts a child and waits for its end, unless the request says that nobody waits, or the child is released
    /// meanwhile; an error if it may not start.
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>>;

    /// Whether anybody delegates here at all, whatever grants say.
    fn is_switched_on(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// The agent that would serve a request, by all its names; nothing if none would.
    fn agent_for(&self, request: &TaskRequest) -> Resource;

    /// What the answer to a call is made with besides the outcome.
    fn answer_parts(&self) -> AnswerParts<'_>;
}

/// What became of a Task call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delegated {
    Ended(Box<TaskOutcome>),
    /// The child works on; its report comes with the mail.
    Launched(Box<Launched>),
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

    fn settles_itself(&self) -> bool {
        T::SETTLES_ITSELF
    }

    fn order(&self, _arguments: &str) -> Order {
        T::ORDER
    }

    fn delegates(&self) -> bool {
        T::DELEGATES
    }

    fn needs_children(&self) -> bool {
        T::NEEDS_CHILDREN
    }

    fn resource(&self, arguments: &str, context: CallContext<'_>) -> Resource {
        parse(arguments).map_or(Resource::Nothing, |input| TypedTool::resource(self, &input, context))
    }

    fn preview<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            match parse(arguments) {
                Ok(input) => TypedTool::preview(self, input, context).await,
                Err(_) => None,
            }
        })
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            match parse(arguments) {
                Ok(input) => TypedTool::run(self, input, context).await,
                Err(error) => ToolOutput::not_run(format!(
                    "{} was not run: its arguments do not fit ({}). They must match this schema: {}",
                    T::NAME,
                    shortened(&error.to_string()),
                    self.schema()
                ))
                .because(Fault::Arguments),
            }
        })
    }
}

fn parse<T: DeserializeOwned>(arguments: &str) -> serde_json::Result<T> {
    // Models write an empty string where a tool takes no arguments.
    serde_json::from_str(if arguments.trim().is_empty() { "{}" } else { arguments })
}

/// An error about arguments repeats them, however long they are.
fn shortened(error: &str) -> String {
    const MAX_CHARS: usize = 300;
    match error.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… (cut)", &error[..end]),
        None => error.to_owned(),
    }
}
