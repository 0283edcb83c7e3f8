//! Defaults of a dialect: limits, agents, tools and caps that the engine obeys.

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
