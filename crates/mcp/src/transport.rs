//! Transports to external servers, as defined: a program over its pipes, or an address over HTTP.

mod bounded_http;
pub(crate) mod brief;
mod chain;
pub(crate) mod credentials;
mod decline_requests;
pub(crate) mod discovery;
mod expand_variables;
pub(crate) mod http_transport;
mod nesting;
pub(crate) mod printed_headers;
mod secrets;
mod server_ground;
pub(crate) mod server_process;

pub(crate) use bounded_http::{Failure, Unnamed};
pub use chain::{Chain, LEVEL_VARIABLE};
pub(crate) use chain::{LOAN, REPAYMENT};
pub use expand_variables::{Lookup, expanded};
pub use secrets::secrets_of;
pub use server_ground::ServerGround;
