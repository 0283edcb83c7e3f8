//! Defaults of a dialect: limits, agents, tools and caps that the engine obeys.

/// Decisions of a dialect beyond wording. The user's settings override them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent and read by name")]
pub struct Defaults {
    pub max_depth: u32,
    /// The delegating tool at the depth limit.
    pub at_max_depth: AtMaxDepth,
    pub max_concurrent: usize,
    pub max_tokens: Option<u64>,
    /// True if sub-agents get the project's instruction files.
    pub inherit_context_files: bool,
    /// True if an agent may not occur twice in the chain of delegation.
    pub refuses_circles: bool,
    /// True if an unknown name is matched by description.
    pub best_match: bool,
    /// True if a task whose definition names a tool forbidden to its parent is refused before it starts.
    pub refuses_missing_tools: bool,
    /// Tools beside the delegating one, for tasks that are at work at once.
    pub companions: Companions,
    /// Agents that a caller can name.
    pub visible: Visible,
    /// Built-in agents that differ in this dialect, by their own names.
    pub types: &'static [TypeDefaults],
    /// Tools that no sub-agent has, whatever other settings say and however the name is spelt.
    pub denied_tools: &'static [&'static str],
    /// The only tools that a sub-agent can have.
    pub only_tools: Option<&'static [&'static str]>,
    /// True if tools answer with objects, which [`Contract::encode_output`] writes.
    pub structured_outputs: bool,
    /// Composition of a sub-agent's system prompt.
    pub system: SystemPrompt,
    /// For agents without a cap of their own.
    pub report_cap: ReportCap,
    /// Model calls of an agent without a limit of its own.
    pub max_turns: u32,
    /// Most model calls that a call may give an agent whose file sets no number, even above its default. `None` if a
    /// call can only lower the number.
    pub max_turns_asked: Option<u32>,
    /// True if a task that keeps repeating itself ends before its turns run out.
    pub ends_loops: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtMaxDepth {
    /// There is no delegating tool.
    Hidden,
    /// There is one, and it refuses.
    Refuses,
}

/// Tools beside the delegating one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Companions {
    None,
    /// Sub-agents, but not a main agent, can write messages and notes to each other.
    Messages,
    /// All of them: tasks can also work in the background, and be followed, steered and stopped.
    All,
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

/// A built-in agent in one dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeDefaults {
    /// The built-in agent that serves.
    pub agent: &'static str,
    /// Its name in this dialect.
    pub name: &'static str,
    /// One line for the tool's description; the agent's own if absent.
    pub description: Option<&'static str>,
    /// Its tools in this dialect; the agent's own if absent.
    pub tools: Option<&'static [&'static str]>,
    pub model: Option<&'static str>,
    pub max_turns: Option<u32>,
    pub report_cap: Option<ReportCap>,
    /// True if its reading tools need no approval. Denied tools stay denied.
    pub approves_reads: bool,
    /// True if every call not allowed by a rule of the user needs a person's approval, in any mode.
    pub isolated: bool,
}

impl TypeDefaults {
    /// A built-in agent unchanged, under its own name.
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

impl Companions {
    /// True if tasks can work in the background.
    pub fn allow_background(self) -> bool {
        self == Self::All
    }
}

impl Defaults {
    /// Defaults of a dialect without decisions of its own.
    pub const PLAIN: Self = Self {
        max_depth: 2,
        at_max_depth: AtMaxDepth::Hidden,
        max_concurrent: 20,
        max_tokens: None,
        inherit_context_files: false,
        refuses_circles: false,
        best_match: false,
        refuses_missing_tools: false,
        companions: Companions::None,
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
        // The designs behind the dialects bound a repeating task in their own ways.
        ends_loops: false,
    };

    /// Returns this dialect's entry for an agent, by the agent's own name in any case.
    pub fn type_of(&self, agent: &str) -> Option<&'static TypeDefaults> {
        self.types.iter().find(|known| known.agent.eq_ignore_ascii_case(agent))
    }

    /// Returns the type that a name means: by its name in this dialect or the built-in agent's own, ignoring case and
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

/// Size at which a report is cut, marked and spilled in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportCap {
    /// Never.
    None,
    Bytes(usize),
    /// Bytes inside a JSON string, the mark included.
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
    /// The role prompt, a heading `# Task`, and a line that points to the brief in the first message.
    RoleAndPointer,
}
