//! `Tool`: a tool with its types erased, as the registry and the gate know it.

use sortie_protocol::{Resource, ToolOutput, ToolSpec};

use super::context::CallContext;
use super::decoded_call::DecodedCall;
use crate::port::future::BoxFuture;

/// A tool with its types erased, as the registry and the gate know it.
pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// True if running a call twice does no more than running it once. A recovery re-runs only such calls.
    fn idempotent(&self) -> bool;

    /// True if an interrupted call, repeated under its own id, detects if it has had its effect. A recovery repeats
    /// such a call if it may still run; its effect happens once.
    fn settles_itself(&self) -> bool {
        false
    }

    /// The order of a call among the calls of its turn, which all run at the same time.
    fn order(&self, _arguments: &str, _decoded: &DecodedCall) -> Order {
        Order::Free
    }

    /// A digest of the tool's definition, if somebody else may change that definition under the same name. A person's
    /// approval holds only while the digest stays the same.
    fn pin(&self) -> Option<&str> {
        None
    }

    /// Maximum size of an output shown to a model, if the tool does not bound it itself; a file keeps the whole.
    fn most_bytes(&self) -> Option<usize> {
        None
    }

    /// True if a call waits for other tasks; the caller then gives its slot back for that time.
    fn delegates(&self) -> bool;

    /// True if this call, of a tool that can wait for other tasks, does so.
    fn waits(&self, _arguments: &str, _decoded: &DecodedCall) -> bool {
        self.delegates()
    }

    /// True if a call starts a sub-agent. Those of one turn are admitted in the order of the calls.
    fn starts_children(&self) -> bool {
        false
    }

    /// True if the tool is only useful to a task that may have children.
    fn needs_children(&self) -> bool {
        false
    }

    /// The resource that a call would touch, as far as it is known before the call runs. The grant decides on it.
    /// Invalid arguments or paths touch nothing; the call itself reports the mistake.
    fn resource(&self, _arguments: &str, _context: CallContext<'_>) -> Resource {
        Resource::Nothing
    }

    /// The change that a call would make, as a diff for the person who is asked; `None` if the tool cannot tell.
    fn preview<'a>(&'a self, _arguments: &'a str, _context: CallContext<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    /// A refusal of a call, in the form of this tool's answers; `None` if the plain refusal will do.
    fn refused(&self, _arguments: &str, _context: CallContext<'_>, _refusal: &ToolOutput) -> Option<ToolOutput> {
        None
    }

    /// Runs one call. Every failure that a model can act on is a [`ToolOutput`] that says what to do next.
    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput>;
}

/// The order of a call among the calls of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Free,
    /// The call writes to another task. Messages of one turn are sent in call order.
    Says,
    /// The call looks at other tasks. By then they have received all earlier messages of the turn.
    Looks,
}
