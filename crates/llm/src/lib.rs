//! From a [`ModelRequest`] to a [`Reply`](sortie_protocol::Reply), streaming [`ModelEvent`]s on the way.
//!
//! One port ([`Model`]) and everything behind it: [`wire`]s, [`route`]s, retries, and the rule-based [`offline`] model.
//! Only the wire modules know foreign JSON. Nothing here knows what a tool does, and nothing reads the environment
//! except the HTTP and TLS libraries (proxies, certificates).

mod call;
mod error;
mod failure;
mod http;
pub mod offline;
mod port;
mod retry;
pub mod route;
mod sse;
mod stream;
pub mod wire;

pub use error::{ErrorKind, ModelError};
pub use port::{BoxFuture, Model, ModelEvent, ModelRequest, Models, ToolChoice, UnknownModel};
pub use route::{BaseUrl, CallSettings, Route, RouteTable, Secret};
pub use wire::WireKind;
