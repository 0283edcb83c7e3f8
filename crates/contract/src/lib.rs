//! The Task tool's JSON dialects: what a host sends, and what it gets back. One file each.
//!
//! Pure: bytes to a [`TaskRequest`](sortie_protocol::TaskRequest), an answer to bytes, and a few defaults.
//! A contract does not know the engine, and the engine does not know which contract is in use.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod again;
mod by_name;
mod cause;
mod child;
mod delegate;
mod ending;
mod envelope;
mod fields;
mod json;
mod json_size;
mod listing;
mod port;
mod result;
mod sortie;
mod typed;

pub use again::given_again;
pub use by_name::{CONTRACTS, contract};
pub use child::Child;
pub use delegate::Delegate;
pub use envelope::{Envelope, substance};
pub use json_size::json_bytes;
pub use port::{
    AgentLine, Answer, AtMaxDepth, Call, Contract, Defaults, OutputCall, ReportCap, SystemPrompt, TypeDefaults, Visible,
};
pub use result::{ToolResult, http_code};
pub use sortie::{Sortie, compact_report, head_line};
pub use typed::Typed;
