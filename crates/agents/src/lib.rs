//! Agents: what a definition says, where it is found, and what it means for one task.
//!
//! Pure: it is given the bytes of files and opens none. [`read`] makes one file a definition, [`Registry`] decides which
//! definition a name means, [`rank`] which one suits a text, and [`resolve`] turns what was said into an
//! [`AgentConfig`](sortie_protocol::AgentConfig) once; nothing after it asks again.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod builtin;
mod definition;
mod draft;
mod file;
mod finding;
mod fold;
mod layer;
mod look_alike;
mod matching;
mod read;
mod registry;
mod resolve;
mod server;
mod template;

pub use definition::{AgentDefinition, Origin, Scope};
pub use draft::draft;
pub use file::{AgentFile, Dialect, MAX_FILE_BYTES, PromptFile, TemplateFile};
pub use finding::{Finding, Severity, Weight};
pub use matching::{ENOUGH_WORDS, Match, MatchedWord, Place, Ranking, rank};
pub use read::{Reading, read};
pub use registry::{Agents, Registry, UnknownAgent};
pub use resolve::{Resolution, limits, renew, resolve};
pub use server::{ServerAccess, ServerDefinition, ServerReading, ServerUse, prefix as server_prefix};
pub use template::{Argument, Given, Template, TemplateError, Templates, UnknownTemplate, template_lines};
