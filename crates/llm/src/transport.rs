//! Transport of requests and replies: HTTP clients, server-sent events, and transport errors.

mod document;
mod http_clients;
pub(crate) mod http_error;
mod idle_timeout;
pub mod local_server;
mod model_list;
mod reply_stream;
mod sse;

pub(crate) use http_clients::HttpClients;
pub use http_clients::{AddressKind, http_client};
pub(crate) use idle_timeout::IdleTimeout;
pub(crate) use model_list::model_list;
pub(crate) use reply_stream::read_reply;
