//! Port for starting sub-agents.

use sortie_protocol::{CallId, Failure, Launched, Resource, TaskId, TaskOutcome, TaskRequest};

use super::future::BoxFuture;

/// Starts sub-agents for the task that makes the call.
pub trait Delegation: Send + Sync {
    /// Starts a child and waits for its end; an error if it may not start. Does not wait for a child in the background,
    /// whether the request put it there or somebody moves it there meanwhile.
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>>;

    /// An error if delegation is switched off, regardless of grants.
    fn is_switched_on(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// The agent that would serve a request, by all its names; nothing if there is none.
    fn agent_for(&self, request: &TaskRequest) -> Resource;

    /// The parts of an answer besides the outcome.
    fn answer_parts(&self) -> AnswerParts<'_>;
}

/// The result of a Task call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delegated {
    Ended(Box<TaskOutcome>),
    /// The child keeps working; its report arrives with the mail.
    Launched(Box<Launched>),
}

/// The parts of an answer to a Task call besides the outcome.
#[derive(Debug, Clone)]
pub struct AnswerParts<'a> {
    /// The working directory relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// An id for a call that started nothing.
    pub spare_id: TaskId,
    /// A random word, unknown to any child, to fence its report with.
    pub mark: String,
}
