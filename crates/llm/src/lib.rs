//! Model calls: turns a [`ModelRequest`] into a [`Reply`](sortie_protocol::Reply) and streams [`ModelEvent`]s on the
//! way.
//!
//! One port ([`Model`]) and everything behind it. Only the wire modules and [`local`] know foreign JSON. Nothing here
//! knows what a tool does, and nothing reads the environment except the HTTP and TLS libraries (proxies, certificates).
//!
//! Rooms, lowest first; each uses only those before it: `model_data`, `port`, [`route`], [`wire`], `tokens`,
//! `transport`, `call`, `table`.

// Files and processes are reached only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod call;
mod model_data;
mod port;
pub mod route;
mod table;
mod tokens;
mod transport;
pub mod wire;

pub use model_data::{Catalogue, UnknownWire, WireKind, catalogue};
pub use port::{
    BoxFuture, Chosen, Endpoint, ErrorKind, Model, ModelError, ModelEvent, ModelRequest, Models, Terms, ToolChoice,
    UnknownModel,
};
pub use route::{BaseUrl, CallSettings, RateLimits, Route, Secret};
pub use table::{Checked, RouteError, RouteListing, RouteSetup, RouteTable, Served, offline};
pub use tokens::estimate;
pub use transport::{AddressKind, http_client, local_server as local};
