//! From a [`ModelRequest`] to a [`Reply`](sortie_protocol::Reply), streaming [`ModelEvent`]s on the way.
//!
//! One port ([`Model`]) and everything behind it: [`wire`]s, [`route`]s, the [`catalogue`] of models, retries, the
//! pace at which an endpoint is asked, and the rule-based [`offline`] model.
//! Only the wire modules and [`local`] know foreign JSON. Nothing here knows what a tool does, and nothing reads the environment
//! except the HTTP and TLS libraries (proxies, certificates).

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod call;
pub mod catalogue;
mod error;
pub mod estimate;
mod failure;
mod http;
pub mod local;
pub mod offline;
mod pace;
mod port;
mod retry;
pub mod route;
mod sse;
mod stream;
mod usage;
pub mod wire;

pub use catalogue::Catalogue;
pub use error::{ErrorKind, ModelError};
pub use http::http_client;
pub use port::{BoxFuture, Chosen, Endpoint, Model, ModelEvent, ModelRequest, Models, Terms, ToolChoice, UnknownModel};
pub use route::{BaseUrl, CallSettings, RateLimits, Route, RouteSetup, RouteTable, Secret};
pub use wire::WireKind;
