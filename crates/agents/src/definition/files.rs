//! Files about agents, templates and prompts as they come in: bytes and where they were. Nothing here opens one.

use crate::definition::agent_definition::Scope;

/// More than this is not an agent's definition or a role prompt, but something that got into the folder by mistake.
pub const MAX_FILE_BYTES: usize = 64 * 1024;

/// What is said of a file beyond that. Its true size is not known: no more of it is read than tells.
pub(crate) const TOO_LARGE: &str = "more than 65,536 bytes";

/// A Markdown file with front matter that defines an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// As people should see it.
    pub path: String,
    pub scope: Scope,
    pub dialect: Dialect,
    /// Whether the user vouched for this very content. Only asked of a project's files.
    pub trusted: bool,
    pub bytes: Vec<u8>,
}

/// For whom a file was written, and so how strictly it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// For Sortie: whatever would have no effect is an error.
    Ours,
    /// For another program (`.claude/agents`): what does not work here is left out with a warning.
    Foreign,
}

/// A Markdown file with front matter that is a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFile {
    /// As people should see it. The file's name is the template's.
    pub path: String,
    pub scope: Scope,
    /// Whether the user vouched for this very content. Only asked of a project's files.
    pub trusted: bool,
    pub bytes: Vec<u8>,
}

/// A text that takes the place of a built-in role prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// As people should see it.
    pub path: String,
    pub scope: Scope,
    /// Whether the user vouched for this very content. Only asked of a project's files.
    pub trusted: bool,
    /// The file's name, e.g. `subagent_explore_prompt.md`: it decides whose prompt this is.
    pub name: String,
    pub bytes: Vec<u8>,
}
