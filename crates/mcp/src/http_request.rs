//! A request over HTTP: which heads pass the gate, which bodies are read, and how one that does not is refused.

pub(crate) mod answer;
pub(crate) mod body;
mod bounds;
pub(crate) mod gate;
pub(crate) mod host_names;
pub(crate) mod refusal;
pub(crate) mod token;

pub use bounds::Bounds;
pub use token::{Token, TokenSource};

/// Where the protocol is spoken; there is nothing elsewhere.
pub const PATH: &str = "/mcp";
