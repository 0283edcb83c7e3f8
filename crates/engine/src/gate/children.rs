//! The gate's port to the children of its task.

use sortie_protocol::{CallId, TaskOutcome};
use sortie_tools::{BoxFuture, Delegation, Kin};

/// The children of one task, as its gate needs them.
pub(crate) trait Children: Send + Sync {
    /// Access to starting a child.
    fn delegation(&self) -> &dyn Delegation;

    /// Access to the tasks around this one.
    fn relatives(&self) -> &dyn Kin;

    /// Ends the child that answers a refused call, and returns its outcome.
    fn let_go<'a>(&'a self, call: &'a CallId, refusal: &'a str) -> BoxFuture<'a, Option<TaskOutcome>>;
}
