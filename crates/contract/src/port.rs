//! Port to a dialect: the operations of every dialect, and its defaults.

pub(crate) mod agent_names;
pub(crate) mod defaults;
pub(crate) mod host_notices;

use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Failure, Launched, TaskId, TaskOutcome, TaskRequest, ToolOutput, ToolSpec};

use crate::port::defaults::Defaults;
use crate::port::host_notices::{notices_beside, output_of};

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

    /// JSON schema of [`encode_for_host`](Self::encode_for_host) and, if tasks can work in the background, of
    /// [`encode_launched_for_host`](Self::encode_launched_for_host), for hosts that check answers. It names every field
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

    /// Encodes the answer for a host. Its model may read the text or the object, never both, so each says everything.
    fn encode_for_host(&self, call: &Call<'_>, answer: Answer<'_>, mark: &str) -> HostAnswer {
        let (text, object) = (self.encode_for_model(call, answer, mark), self.encode(call, answer));
        let pager = self.defaults().companions.allow_background().then(|| self.host_name("TaskOutput"));
        let notices = answer.map(|outcome| notices_beside(&object, outcome, pager)).unwrap_or_default();
        HostAnswer { text, object, notices: Vec::new() }.noting(notices)
    }

    /// Encodes the launch for a host, to which nothing is delivered.
    fn encode_launched_for_host(&self, launched: &Launched) -> HostAnswer {
        let object = self.encode_launched(launched);
        let wait = format!("{} waits for its report", output_of(launched.task_id, self.host_name("TaskOutput")));
        let notices = [wait].into_iter().chain(launched.notices.iter().cloned());
        HostAnswer { text: object.to_string(), object, notices: Vec::new() }.noting(notices)
    }

    /// Name by which a host knows a companion tool. A host may have a tool of its own under ours.
    fn host_name<'a>(&self, tool: &'a str) -> &'a str {
        tool
    }

    /// Adapts the delegating tool for a host, which has no conversation of ours and gets no deliveries.
    fn for_host(&self, tool: ToolSpec) -> ToolSpec {
        tool
    }

    /// A second delegating tool for hosts, whose sub-agents can only read; `None` if there is none. Its arguments are
    /// read like those of the first.
    fn reading_tool(&self) -> Option<ToolSpec> {
        None
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

/// An answer for a host, in both of its forms.
#[derive(Debug, Clone, PartialEq)]
pub struct HostAnswer {
    pub text: String,
    pub object: Value,
    /// Notices for which the text has no place, each a text of its own. The object has them.
    pub notices: Vec<String>,
}

impl HostAnswer {
    /// Adds notices for which the dialect has no place.
    #[must_use]
    pub fn noting(mut self, notices: impl IntoIterator<Item = String>) -> Self {
        self.notices.extend(notices);
        if !self.notices.is_empty() {
            self.object["notices"] = json!(self.notices);
        }
        self
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
