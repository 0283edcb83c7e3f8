//! Agents: what a definition says, where it is found, and what it means for one task.
//!
//! Pure: [`resolve`] turns what was said into an [`AgentConfig`](sortie_protocol::AgentConfig) once; nothing after it
//! asks again. It runs nothing and reads no file (definitions from files will come in through [`Registry`]).

mod builtin;
mod definition;
mod registry;
mod resolve;

pub use definition::AgentDefinition;
pub use registry::{Registry, UnknownAgent};
pub use resolve::{Resolution, resolve};
