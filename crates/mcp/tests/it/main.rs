//! The server as a host sees it, and the client as our agents see it.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a failing test may panic")]

mod client;
mod completions;
mod host_model;
mod http;
mod idle_news;
mod logs;
mod news;
mod office;
mod prompts;
mod resources;
mod server;
mod site;
mod tool_list;
