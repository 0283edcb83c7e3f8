//! Agent, template and prompt files as input: bytes and their origin. Nothing here opens a file.

use crate::definition::agent_definition::Scope;

/// A larger file is not an agent's definition or a role prompt, but landed in the folder by mistake.
pub const MAX_FILE_BYTES: usize = 64 * 1024;

/// Size of a larger file in messages. Its true size is unknown, since the rest is not read.
pub(crate) const TOO_LARGE: &str = "more than 65,536 bytes";

/// A Markdown file with front matter that defines an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// As shown to people.
    pub path: String,
    pub scope: Scope,
    pub dialect: Dialect,
    /// True if the user trusts this exact content. Only relevant for a project's files.
    pub trusted: bool,
    pub bytes: Vec<u8>,
}

/// Target program of a file, which decides how strictly it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// For Sortie: anything without effect is an error.
    Ours,
    /// For another program (`.claude/agents`): unsupported parts are left out with a warning.
    Foreign,
}

/// A Markdown file with front matter that is a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFile {
    /// As shown to people. The file's name is the template's.
    pub path: String,
    pub scope: Scope,
    /// True if the user trusts this exact content. Only relevant for a project's files.
    pub trusted: bool,
    pub bytes: Vec<u8>,
}

/// A text that replaces a built-in role prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// As shown to people.
    pub path: String,
    pub scope: Scope,
    /// True if the user trusts this exact content. Only relevant for a project's files.
    pub trusted: bool,
    /// The file's name, e.g. `subagent_explore_prompt.md`: it decides whose prompt this is.
    pub name: String,
    pub bytes: Vec<u8>,
}
