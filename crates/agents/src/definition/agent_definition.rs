//! The definition of an agent, and its origin.

use std::fmt;

use serde_json::Value;
use sortie_protocol::{Fork, Limits, Mode, Resource};

use crate::definition::mcp_server::ServerUse;

/// An agent as its author described it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// When to use it, for the delegating agent.
    pub description: String,
    /// The role prompt, complete.
    pub prompt: String,
    /// Allowed tools, as rules: `Tool` or `Tool(pattern)`; `None` for everything its parent may use.
    pub tools: Option<Vec<String>>,
    /// Denied tools, whatever else the file says: rules, and names with `*`. A bare name means that tool alone.
    pub disallowed_tools: Vec<String>,
    /// MCP servers that it asks for by name, or defines itself.
    pub servers: Vec<ServerUse>,
    /// Mode for calls that match no rule; `None` keeps the parent's. It can only narrow.
    pub mode: Option<Mode>,
    /// True if calls that need a person's approval are refused instead.
    pub never_asks: bool,
    /// True if its reads need no approval. No file can set this.
    pub approves_reads: bool,
    /// A model by name, if the agent needs a certain one. `inherit` insists on the parent's; `None` takes the default.
    pub model: Option<String>,
    /// Limits of each of its tasks. Turns are its own number; everything else only tightens the limits in force.
    pub limits: Limits,
    /// A JSON schema for its answers, unless the caller asks for another one.
    pub output_schema: Option<Value>,
    /// Part of its caller's conversation that it begins with, unless the call says otherwise.
    pub fork: Option<Fork>,
    /// Files whose text becomes part of its system prompt, unless the call names others.
    pub context_files: Option<Vec<String>>,
    /// Colour of its name on a terminal, chosen by its author.
    pub color: Option<String>,
    /// Text before the request when it runs as the main agent.
    pub initial_prompt: Option<String>,
    /// True if other agents may delegate to it.
    pub delegable: bool,
    pub origin: Origin,
}

pub(crate) const BASH: &str = "Bash";

/// Tools for background commands. `Bash` grants these as well: other programs include them.
pub(crate) const WITH_BASH: [&str; 2] = ["BashOutput", "KillShell"];

impl AgentDefinition {
    /// The agent as a grant identifies it.
    pub fn as_resource(&self) -> Resource {
        Resource::Agent { name: self.name.clone(), aliases: self.aliases.clone() }
    }

    /// All its names, the primary one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    /// The tools that its author named, each once. `Bash` brings tools of its own along, which nobody names.
    pub fn required_tools(&self) -> Vec<&str> {
        let has_bash = self.named_tools().any(|tool| tool == BASH);
        let mut required: Vec<&str> = Vec::new();
        for tool in self.named_tools().filter(|tool| !has_bash || !WITH_BASH.contains(tool)) {
            if !required.contains(&tool) {
                required.push(tool);
            }
        }
        required
    }

    /// The tools it names, without their patterns.
    pub fn named_tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().flatten().map(|rule| rule.split_once('(').map_or(rule.as_str(), |(name, _)| name))
    }
}

/// Origin of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub scope: Scope,
    /// The file, as shown to people; `None` for a built-in one.
    pub path: Option<String>,
}

/// Owner of a definition. Later ones win over earlier ones.
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
