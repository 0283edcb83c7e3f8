//! Wires, routes and calls of `sortie-llm`, tested through its public API.

#![expect(clippy::unwrap_used, reason = "a test may panic wherever it stands")]

mod addresses;
mod append_only;
mod caller;
mod catalogue;
mod decode;
mod encode;
mod ending;
mod environment;
mod fixture;
mod gemini;
mod listing;
mod local;
mod odd_servers;
mod offline;
mod opaque;
mod rate_limit;
mod responses;
mod routes;
mod server_lists;
mod support;
mod wire_suite;
