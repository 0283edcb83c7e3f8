//! What every dialect of the Task tool can do, and what it decides beyond words.

use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Failure, Launched, TaskId, TaskOutcome, TaskRequest, ToolOutput};

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

/// What a dialect decides beyond words. Settings of the user come before these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent and read by name")]
pub struct Defaults {
    pub max_depth: u32,
    /// What a task at the depth limit finds.
    pub at_max_depth: AtMaxDepth,
    pub max_concurrent: usize,
    pub max_tokens: Option<u64>,
    /// Whether sub-agents get the project's instruction files.
    pub inherit_context_files: bool,
    /// Whether an agent that already stands in the chain of delegation is refused.
    pub refuses_circles: bool,
    /// Whether a name that nobody has is matched by description.
    pub best_match: bool,
    /// Whether a task that names, in its own definition, a tool that its parent may not use is refused before it
    /// starts.
    pub refuses_missing_tools: bool,
    /// Whether tasks can work in the background, and there are tools to follow, steer and stop them.
    pub companions: bool,
    /// Which agents a caller can name.
    pub visible: Visible,
    /// What the built-in agents are in this dialect, by their own names; one that is not listed is as it is.
    pub types: &'static [TypeDefaults],
    /// Tools that no sub-agent has, whatever else is said and however the name is spelt.
    pub denied_tools: &'static [&'static str],
    /// The only tools that a sub-agent can have.
    pub only_tools: Option<&'static [&'static str]>,
    /// Whether tools answer in objects, which [`Contract::encode_output`] writes.
    pub structured_outputs: bool,
    /// How the system prompt of a sub-agent is put together.
    pub system: SystemPrompt,
    /// For agents without a cap of their own.
    pub report_cap: ReportCap,
    /// Model calls of an agent that says nothing of them.
    pub max_turns: u32,
    /// Model calls that a call may give an agent whose file names no number, be it more than the agent has; `None`:
    /// fewer only.
    pub max_turns_asked: Option<u32>,
    /// Whether a task that does the same again and again ends before it has had all its turns.
    pub ends_circles: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtMaxDepth {
    /// No tool that delegates.
    Hidden,
    /// The tool, which refuses.
    Refuses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible {
    /// The listed types, and agents from files.
    TypesAndFiles,
    /// The listed types only.
    Types,
    /// Agents from files only.
    Files,
    /// All agents.
    All,
}

/// A built-in agent as one dialect has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeDefaults {
    /// The built-in agent that serves.
    pub agent: &'static str,
    /// Its name here.
    pub name: &'static str,
    /// One line for the tool's description; the agent's own where there is none.
    pub description: Option<&'static str>,
    /// The tools that it has here; the agent's own where there are none.
    pub tools: Option<&'static [&'static str]>,
    pub model: Option<&'static str>,
    pub max_turns: Option<u32>,
    pub report_cap: Option<ReportCap>,
    /// Whether its reading tools need no approval. What is denied stays denied.
    pub approves_reads: bool,
    /// Whether every call that no rule of the user allows needs a person's approval, whatever the mode is.
    pub isolated: bool,
}

impl TypeDefaults {
    /// A built-in agent as it is, under its own name.
    pub const fn plain(agent: &'static str) -> Self {
        Self {
            agent,
            name: agent,
            description: None,
            tools: None,
            model: None,
            max_turns: None,
            report_cap: None,
            approves_reads: false,
            isolated: false,
        }
    }
}

impl Defaults {
    /// Of a dialect that decides nothing of its own.
    pub const PLAIN: Self = Self {
        max_depth: 2,
        at_max_depth: AtMaxDepth::Hidden,
        max_concurrent: 20,
        max_tokens: None,
        inherit_context_files: false,
        refuses_circles: false,
        best_match: false,
        refuses_missing_tools: false,
        companions: false,
        visible: Visible::All,
        types: &[],
        denied_tools: &[],
        only_tools: None,
        structured_outputs: false,
        system: SystemPrompt::Role,
        // About 2,000 tokens at four bytes each.
        report_cap: ReportCap::Bytes(8000),
        max_turns: 30,
        max_turns_asked: None,
        // How long a task goes on is a matter of the documents' own limits.
        ends_circles: false,
    };

    /// What this dialect has for an agent, by the agent's own name, which may be spelt in another case.
    pub fn type_of(&self, agent: &str) -> Option<&'static TypeDefaults> {
        self.types.iter().find(|known| known.agent.eq_ignore_ascii_case(agent))
    }

    /// The type that a name means here: by its name in this dialect or the built-in agent's own, ignoring case and
    /// surrounding space.
    pub fn type_named(&self, name: &str) -> Option<&'static TypeDefaults> {
        let wanted = match name.trim() {
            general if general.eq_ignore_ascii_case("general") => "general-purpose",
            other => other,
        };
        let goes_by = |known: &str| known.eq_ignore_ascii_case(wanted);
        self.types.iter().find(|known| goes_by(known.agent) || goes_by(known.name))
    }
}

/// When a report is cut, marked and spilled in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportCap {
    /// Never.
    None,
    Bytes(usize),
    /// Bytes that it takes within a JSON string, the mark included.
    JsonBytes(usize),
    /// Characters, the mark included.
    Characters(usize),
    /// Lines or bytes, whichever is reached first.
    LinesOrBytes {
        lines: usize,
        bytes: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemPrompt {
    /// The role prompt alone.
    Role,
    /// The role prompt, a heading `# Task`, and the request's title.
    RoleAndTitle,
    /// The role prompt, a heading `# Task`, and the brief.
    RoleAndBrief,
}
