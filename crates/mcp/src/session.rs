//! The session of a host, over streams or HTTP: its open requests, and the time limits for its reader.

pub(crate) mod arrivals;
pub(crate) mod host_request;
pub(crate) mod open_requests;
pub(crate) mod time_limits;
