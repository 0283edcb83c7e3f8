//! The session of a host, over streams as over HTTP: its requests under way, and how long its reader is waited for.

pub(crate) mod open_requests;
pub(crate) mod time_limits;
