//! The port to a dialect: what every one of them can do, and the defaults that it sets.

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

    /// What the calling model reads about the tool. `agents` are those that it can name, as [`Defaults::visible`] says.
    fn description(&self, agents: &[AgentLine]) -> String;

    /// JSON schema of the arguments, for the same agents.
    fn schema(&self, agents: &[AgentLine]) -> Value;

    /// JSON schema of [`encode`](Self::encode) and, where tasks can work in the background, of
    /// [`encode_launched`](Self::encode_launched), for hosts that check answers. It says what a program finds in every
    /// answer, and little of the rest: a host pays for it with every list of tools.
    fn output_schema(&self) -> Value;

    /// The field in which a call names an agent, where it can name one.
    fn agent_field(&self) -> Option<&'static str> {
        Some("subagent_type")
    }

    fn defaults(&self) -> Defaults;

    /// Reads a call's arguments. Never half: a request that can be started, or what is wrong with it.
    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure>;

    /// The answer to a call, as an object for programs.
    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value;

    /// The same object as text. Where it repeats what the caller wrote, it may be more exact than the object, whose
    /// numbers are those of this machine.
    fn encode_text(&self, call: &Call<'_>, answer: Answer<'_>) -> String {
        self.encode(call, answer).to_string()
    }

    /// The answer as the calling model reads it. `mark` is random: a report cannot fake its own end.
    fn encode_for_model(&self, call: &Call<'_>, answer: Answer<'_>, _mark: &str) -> String {
        self.encode_text(call, answer)
    }

    /// What stands behind a report within its text, where there is no other place to say that it is given again. A
    /// report that leaves no room for it within its cap has to be cut further.
    fn behind_report(&self, _outcome: &TaskOutcome) -> String {
        String::new()
    }

    /// What a call is told at once whose task works on by itself.
    fn encode_launched(&self, launched: &Launched) -> Value {
        json!(launched)
    }

    /// The same as the calling model reads it.
    fn encode_launched_for_model(&self, launched: &Launched) -> String {
        self.encode_launched(launched).to_string()
    }

    /// Whether the call as such counts as failed, where the transport can say so.
    fn is_error(&self, answer: Answer<'_>) -> bool;

    /// The dialect's word for where a task stands, given ours: `running`, `completed`, `failed` and so on.
    fn status_word<'a>(&self, ours: &'a str) -> &'a str {
        ours
    }

    /// The HTTP status that comes nearest to what went wrong, in dialects that have one. For events, never in the
    /// answer.
    fn code(&self, _answer: Answer<'_>) -> Option<u16> {
        None
    }

    /// The output of any other tool as the model reads it, in dialects that word it
    /// ([`Defaults::structured_outputs`]); elsewhere it is as the tool says it.
    fn encode_output(&self, _call: &OutputCall<'_>, output: &ToolOutput) -> String {
        output.for_model.clone()
    }

    /// Whether an output is too long to be encoded whole, so that its text has to be spilled first.
    fn must_spill(&self, _output: &ToolOutput) -> bool {
        false
    }
}

/// What an answer may need to know of the call that it answers.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// As they were given.
    pub arguments: &'a str,
    /// The working directory, relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// An id for calls that started nothing, where the dialect wants one on every answer.
    pub spare_id: TaskId,
}

/// What the output of a tool is encoded with.
#[derive(Debug, Clone, Copy)]
pub struct OutputCall<'a> {
    /// As they were given.
    pub arguments: &'a str,
    /// The working directory, relative to the workspace: `.` at its root.
    pub cwd: &'a str,
    /// As the call names it.
    pub tool: &'a str,
    pub elapsed: Duration,
    /// Where the tool's text was spilled, if it had to be and could be.
    pub full_text_path: Option<&'a str>,
}

/// How a call went: the outcome of the task that it started, or why it started none.
pub type Answer<'a> = Result<&'a TaskOutcome, &'a Failure>;

/// An agent as a tool description lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    pub name: String,
    /// Empty where there was no room for it: then only the name is told.
    pub description: String,
}
