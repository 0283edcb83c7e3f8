//! Checks of an HTTP request: its head at the gate, its body within bounds, its token; and refusals.

pub(crate) mod answer;
pub(crate) mod body;
mod bounds;
pub(crate) mod gate;
pub(crate) mod host_names;
pub(crate) mod refusal;
pub(crate) mod token;

pub use bounds::Bounds;
pub use token::{Token, TokenSource};

/// The only path that is served.
pub const PATH: &str = "/mcp";
