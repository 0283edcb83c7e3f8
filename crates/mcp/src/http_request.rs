//! Checks on a request over HTTP: its head at the gate, its body within bounds, its token; and how it is refused.

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
