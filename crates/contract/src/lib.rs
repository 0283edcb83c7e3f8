//! The Task tool's JSON dialects: what a host sends, and what it gets back. One file each.
//!
//! Pure: bytes to a [`TaskRequest`](sortie_protocol::TaskRequest), an outcome to bytes, and a few defaults.
//! A contract does not know the engine, and the engine does not know which contract is in use.

mod json;
mod port;
mod sortie;

pub use port::{AgentLine, Contract, Defaults};
pub use sortie::Sortie;
