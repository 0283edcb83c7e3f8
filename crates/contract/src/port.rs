//! Port to a dialect: the operations of every dialect, and its defaults.

pub(crate) mod agent_names;
pub(crate) mod defaults;

use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Failure, Launched, TaskId, TaskOutcome, TaskRequest, ToolOutput};

use crate::port::defaults::Defaults;

/// One dialect of the Task tool.
///
/// Pure: it reads and writes JSON and names defaults. The engine obeys the defaults and never asks which dialect is in
/// use.
pub trait Contract: Send + Sync {
    fn name(&self) -> &'static str;

    /// The tool's name as the model knows it.
    fn tool_name(&self) -> &'static str;

    /// Returns the tool's description for the calling model. `agents` are those that it can name, as
    /// [`Defaults::visible`] says.
    fn description(&self, agents: &[AgentLine]) -> String;

    /// JSON schema of the arguments, for these agents.
    fn schema(&self, agents: &[AgentLine]) -> Value;

    /// JSON schema of [`encode`](Self::encode) and, if tasks can work in the background, of
    /// [`encode_launched`](Self::encode_launched), for hosts that check answers. It covers the fields of every answer
    /// and little else, because a host pays for it with every list of tools.
    fn output_schema(&self) -> Value;

    /// The field in which a call names an agent, if it can.
    fn agent_field(&self) -> Option<&'static str> {
        Some("subagent_type")
    }

    fn defaults(&self) -> Defaults;

    /// Reads a call's arguments: returns a complete request, or the fault in them.
    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure>;

    /// Encodes the answer to a call as an object for programs.
    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value;

    /// Encodes the answer's object as text. Numbers repeated from the caller may be more exact here than in the object,
    /// which uses machine numbers.
    fn encode_text(&self, call: &Call<'_>, answer: Answer<'_>) -> String {
        self.encode(call, answer).to_string()
    }

    /// Encodes the answer for the calling model. `mark` is random, so that a report cannot fake its own end.
    fn encode_for_model(&self, call: &Call<'_>, answer: Answer<'_>, _mark: &str) -> String {
        self.encode_text(call, answer)
    }

    /// Text appended to a cached report if the dialect has no other place to mark it. A report that leaves no room for
    /// it within its cap is cut further.
    fn behind_report(&self, _outcome: &TaskOutcome) -> String {
        String::new()
    }

    /// Encodes the immediate answer to a call whose task works in the background.
    fn encode_launched(&self, launched: &Launched) -> Value {
        json!(launched)
    }

    /// Encodes the launch for the calling model.
    fn encode_launched_for_model(&self, launched: &Launched) -> String {
        self.encode_launched(launched).to_string()
    }

    /// True if the call itself counts as failed, for transports that can say so.
    fn is_error(&self, answer: Answer<'_>) -> bool;

    /// Returns the dialect's word for a task's status, given ours: `running`, `completed`, `failed` and so on.
    fn status_word<'a>(&self, ours: &'a str) -> &'a str {
        ours
    }

    /// The nearest HTTP status for a failure, in dialects that have one. For events, never in the answer.
    fn code(&self, _answer: Answer<'_>) -> Option<u16> {
        None
    }

    /// Encodes another tool's output for the model, in dialects with [`Defaults::structured_outputs`]; otherwise
    /// returns the tool's own text.
    fn encode_output(&self, _call: &OutputCall<'_>, output: &ToolOutput) -> String {
        output.for_model.clone()
    }

    /// True if an output is too long to be encoded whole, so that its text must be spilled first.
    fn must_spill(&self, _output: &ToolOutput) -> bool {
        false
    }
}

/// Facts about a call that its answer may need.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// As given.
    pub arguments: &'a str,
    /// The working directory, relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// Id for calls that started nothing, if the dialect requires one in every answer.
    pub spare_id: TaskId,
}

/// Facts about a call that the encoding of its output needs.
#[derive(Debug, Clone, Copy)]
pub struct OutputCall<'a> {
    /// As given.
    pub arguments: &'a str,
    /// The working directory, relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// As named in the call.
    pub tool: &'a str,
    pub elapsed: Duration,
    /// File with the spilled text, if it had to be and could be spilled.
    pub full_text_path: Option<&'a str>,
}

/// Result of a call: the outcome of its task, or the reason why none was started.
pub type Answer<'a> = Result<&'a TaskOutcome, &'a Failure>;

/// An agent as a tool description lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    pub name: String,
    /// Empty if there was no room for it: then only the name is listed.
    pub description: String,
}
