//! The Model Context Protocol, both ways: Sortie's Task tool and its companions for other agents (`server`, over
//! `stdio` or HTTP), and external servers as tools of Sortie's agents.
//!
//! The engine owns the tasks, their permissions and their fate. Nothing here knows flags, settings files or the
//! environment: the command line passes values.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod client;
mod host_model;
pub mod http;
mod http_request;
mod oauth;
mod resources;
mod server;
mod session;
pub mod stdio;
mod transport;

pub use client::Connections;
pub use host_model::{HostModels, Hosts, Loan, Offline, ROUTE as HOST_ROUTE};
pub use oauth::{Login, OAuthError, TokenStore, login};
pub use server::{Office, OfficeParts, Offices, People, Roots, Server};
pub use transport::{Chain, LEVEL_VARIABLE, Lookup, ServerGround, expanded, secrets_of};
