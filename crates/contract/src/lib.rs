//! JSON dialects of the Task tool: the input from a host, and the answer to it. One file each.
//!
//! Pure: bytes to a [`TaskRequest`](sortie_protocol::TaskRequest), an answer to bytes, and a few defaults. A contract
//! does not know the engine, and the engine does not know which contract is in use.

// Files and processes are reached only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod dialect;
mod json;
mod outcome;
mod port;

pub use dialect::child::Child;
pub use dialect::delegate::Delegate;
pub use dialect::envelope::{Envelope, substance};
pub use dialect::result::{ToolResult, http_code};
pub use dialect::sortie::for_hosts::host_report;
pub use dialect::sortie::{Sortie, compact_report, head_line, outcome_object, unstarted_object};
pub use dialect::typed::Typed;
pub use dialect::{CONTRACTS, contract};
pub use json::size::json_bytes;
pub use outcome::given_again::given_again;
pub use port::defaults::{AtMaxDepth, Companions, Defaults, ReportCap, SystemPrompt, TypeDefaults, Visible};
pub use port::host_notices::kept_of;
pub use port::{AgentLine, Answer, Call, Contract, HostAnswer, OutputCall};
