//! Agents: reading their definitions, looking them up, and resolving one into a task's configuration.
//!
//! Pure: it is given the bytes of files and opens none. [`read`] turns one file into a definition, [`Registry`] decides
//! which definition a name means, and [`rank`] finds the one that suits a text. [`resolve()`] combines everything into
//! an [`AgentConfig`](sortie_protocol::AgentConfig) once; nothing later asks again.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod agent_file;
mod definition;
mod front_matter;
mod matching;
mod registry;
mod resolve;
mod templates;
mod text;

pub use agent_file::{Reading, read};
pub use definition::{
    AgentDefinition, AgentFile, Dialect, Finding, MAX_FILE_BYTES, OAuthSettings, Origin, PromptFile, Scope,
    ServerAccess, ServerDefinition, ServerReading, ServerUse, Severity, TemplateFile, Weight, server_prefix,
};
pub use matching::{ENOUGH_WORDS, Match, MatchedWord, Place, Ranking, rank};
pub use registry::{Agents, Registry, UnknownAgent, Unused, UnusedFile, draft, is_draft_description};
pub use resolve::{Resolution, limits, renew, resolve};
pub use templates::{Argument, Given, Template, TemplateError, Templates, UnknownTemplate, template_lines};
