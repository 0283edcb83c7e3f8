//! What a definition says about an agent, and where it was said.

use std::fmt;

/// An agent as its author described it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    /// Other names that people use for it.
    pub aliases: Vec<String>,
    /// When to use it, for the one who delegates.
    pub description: String,
    /// The role prompt, complete.
    pub prompt: String,
    /// The tools it may use; `None` is whatever its parent may use.
    pub tools: Option<Vec<String>>,
    /// Tools that it may not use, whatever else is said.
    pub disallowed_tools: Vec<String>,
    /// A model by name, where the agent needs a certain one; `inherit` is its parent's by its author's wish, `None` is
    /// whatever is usual.
    pub model: Option<String>,
    /// Model calls before it must report; `None` is what holds where it runs.
    pub max_turns: Option<u32>,
    /// The colour of its name on a terminal, as its author chose.
    pub color: Option<String>,
    /// What it is told before the request when it runs as the main agent.
    pub initial_prompt: Option<String>,
    /// Whether other agents may delegate to it.
    pub delegable: bool,
    pub origin: Origin,
}

/// Where a definition comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub scope: Scope,
    /// The file, as people should see it; `None` for what is built in.
    pub path: Option<String>,
}

/// Whose word a definition is. Later ones win over earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Builtin,
    User,
    Project,
}

impl Origin {
    pub const BUILTIN: Self = Self { scope: Scope::Builtin, path: None };
}

/// `project: .sortie/agents/reviewer.md`, or `built in`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {path}", self.scope),
            None => self.scope.fmt(f),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Builtin => "built in",
            Self::User => "user",
            Self::Project => "project",
        })
    }
}
