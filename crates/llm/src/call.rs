//! Model calls from request to reply: sent over a wire, rate-limited, and retried where that can help.

mod rate_limit;
mod retry;
mod server_models;
mod wire_model;

pub(crate) use rate_limit::RateLimiters;
pub(crate) use wire_model::{Shared, WireModel};
