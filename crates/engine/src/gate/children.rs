//! The port through which the gate reaches the children of its task.

use sortie_protocol::{CallId, TaskOutcome};
use sortie_tools::{BoxFuture, Delegation, Kin};

/// The children of one task, as its gate needs them.
pub(crate) trait Children: Send + Sync {
    /// The way to start one.
    fn delegation(&self) -> &dyn Delegation;

    /// The way to the tasks around this one.
    fn relatives(&self) -> &dyn Kin;

    /// Ends the child that answers a refused call, and returns what it came to.
    fn let_go<'a>(&'a self, call: &'a CallId, refusal: &'a str) -> BoxFuture<'a, Option<TaskOutcome>>;
}
