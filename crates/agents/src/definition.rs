//! Definitions of agents, the files they come from, and findings about those files.

pub(crate) mod agent_definition;
pub(crate) mod files;
mod finding;
pub(crate) mod mcp_server;

pub use agent_definition::{AgentDefinition, Origin, Scope};
pub use files::{AgentFile, Dialect, MAX_FILE_BYTES, PromptFile, TemplateFile};
pub use finding::{Finding, Severity, Weight};
pub use mcp_server::{
    OAuthSettings, ServerAccess, ServerDefinition, ServerReading, ServerUse, prefix as server_prefix,
};
