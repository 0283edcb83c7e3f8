//! The definition of an agent, and where it comes from.

use std::fmt;

use serde_json::Value;
use sortie_protocol::{Limits, Mode, Resource};

use crate::definition::mcp_server::ServerUse;

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
    /// What it may use, as rules: `Tool` or `Tool(pattern)`; `None` is whatever its parent may use.
    pub tools: Option<Vec<String>>,
    /// What it may not use, whatever else is said: rules, and names with `*` in them. A bare name is that tool alone.
    pub disallowed_tools: Vec<String>,
    /// The MCP servers that it asks for by name, or brings along.
    pub servers: Vec<ServerUse>,
    /// What it may do without approval where no rule says so; `None` is as its parent has it. It can only narrow.
    pub mode: Option<Mode>,
    /// Whether what would need a person's approval is refused instead.
    pub never_asks: bool,
    /// Whether its reading needs no approval. No file can say so.
    pub approves_reads: bool,
    /// A model by name, where the agent needs a certain one; `inherit` is its parent's by its author's wish, `None` is
    /// whatever is usual.
    pub model: Option<String>,
    /// What bounds each of its tasks. Turns are its own number; everything else only tightens what holds where it runs.
    pub limits: Limits,
    /// A JSON schema that its answers fit, unless whoever calls it asks for another one.
    pub output_schema: Option<Value>,
    /// The colour of its name on a terminal, as its author chose.
    pub color: Option<String>,
    /// What it is told before the request when it runs as the main agent.
    pub initial_prompt: Option<String>,
    /// Whether other agents may delegate to it.
    pub delegable: bool,
    pub origin: Origin,
}

impl AgentDefinition {
    /// The agent as a grant knows it.
    pub fn as_resource(&self) -> Resource {
        Resource::Agent { name: self.name.clone(), aliases: self.aliases.clone() }
    }

    /// All names that it goes by, its own first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    /// The tools that it asks for by name, without their patterns.
    pub fn named_tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().flatten().map(|rule| rule.split_once('(').map_or(rule.as_str(), |(name, _)| name))
    }
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
