//! From a [`ModelRequest`] to a [`Reply`](sortie_protocol::Reply), streaming [`ModelEvent`]s on the way.
//!
//! One port ([`Model`]) and everything behind it: wires, routes, retries, and the rule-based [`offline`] model.
//! Only the wire modules know foreign JSON. Nothing here knows what a tool does, and nothing reads the environment.

mod error;
pub mod offline;
mod port;

pub use error::{ErrorKind, ModelError};
pub use port::{BoxFuture, Model, ModelEvent, ModelRequest, Models, ToolChoice, UnknownModel};
