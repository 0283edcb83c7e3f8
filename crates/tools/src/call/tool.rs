//! `Tool`: a tool with its types erased, as the registry and the gate know it.

use sortie_protocol::{Resource, ToolOutput, ToolSpec};

use super::context::CallContext;
use crate::port::future::BoxFuture;

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
