//! Transports to external servers, as defined: a program over its pipes, or an address over HTTP.

mod bounded_http;
pub(crate) mod brief;
mod decline_requests;
pub(crate) mod discovery;
mod expand_variables;
pub(crate) mod http_transport;
mod nesting;
mod secrets;
mod server_ground;
pub(crate) mod server_process;
pub(crate) mod transport_error;

pub(crate) use bounded_http::{Failure, Unnamed};
pub use expand_variables::{Lookup, expanded};
pub use nesting::{LEVEL_VARIABLE, Nesting};
pub(crate) use nesting::{LOAN, REPAYMENT};
pub use secrets::secrets_of;
pub use server_ground::ServerGround;
