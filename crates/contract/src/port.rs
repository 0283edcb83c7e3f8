//! What every dialect of the Task tool can do.

use serde_json::Value;
use sortie_protocol::{Failure, TaskOutcome, TaskRequest};

/// One dialect of the Task tool.
pub trait Contract: Send + Sync {
    fn name(&self) -> &'static str;

    /// The tool's name as the model knows it.
    fn tool_name(&self) -> &'static str;

    /// What the calling model reads about the tool.
    fn description(&self, agents: &[AgentLine]) -> String;

    /// JSON schema of the arguments.
    fn schema(&self, agents: &[AgentLine]) -> Value;

    fn defaults(&self) -> Defaults;

    /// The model of an agent for which neither the call nor its definition names one; its parent's where this is
    /// `None`.
    fn default_model(&self, _agent: &str) -> Option<&'static str> {
        None
    }

    /// Reads a call's arguments. Never half: a request that can be started, or what is wrong with it.
    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure>;

    /// The result object, for programs.
    fn encode(&self, outcome: &TaskOutcome) -> Value;

    /// The result object of a call that started nothing.
    fn encode_rejection(&self, failure: &Failure) -> Value;

    /// The tool result that the calling model receives. `mark` is random: a report cannot fake its own end.
    fn encode_for_model(&self, outcome: &TaskOutcome, mark: &str) -> String;

    /// The tool result of a call that started nothing.
    fn rejection_for_model(&self, failure: &Failure) -> String;
}

/// An agent as a tool description lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    pub name: String,
    pub description: String,
}

/// What a contract decides beyond words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// A report above this many bytes is cut and spilled to a file.
    pub report_cap_bytes: Option<usize>,
}
