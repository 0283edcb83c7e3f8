//! Port for starting sub-agents.

use sortie_protocol::{CallId, Failure, Launched, Resource, TaskId, TaskOutcome, TaskRequest};

use super::future::BoxFuture;

/// Starts sub-agents for the task that makes the call.
pub trait Delegation: Send + Sync {
    /// Starts a child and waits for its end; an error if it may not start. Does not wait for a child that the request
    /// puts in the background, nor for one that is moved there meanwhile.
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>>;

    /// An error if delegation is switched off, whatever grants say.
    fn is_switched_on(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// The agent that would serve a request, by all its names; nothing if none would.
    fn agent_for(&self, request: &TaskRequest) -> Resource;

    /// The parts of an answer besides the outcome.
    fn answer_parts(&self) -> AnswerParts<'_>;
}

/// The result of a Task call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delegated {
    Ended(Box<TaskOutcome>),
    /// The child works on; its report comes with the mail.
    Launched(Box<Launched>),
}

/// The parts of an answer to a Task call besides the outcome.
#[derive(Debug, Clone)]
pub struct AnswerParts<'a> {
    /// The working directory relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// An id for a call that started nothing.
    pub spare_id: TaskId,
    /// A random word that no child can know, to fence its report with.
    pub mark: String,
}
