//! Rate limits of an endpoint, as configured.

/// Rate limits of an endpoint. Routes to one endpoint, with one key, share the lowest limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateLimits {
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens together.
    pub tokens_per_minute: Option<u64>,
    /// Concurrent calls, each over a connection of its own.
    pub max_connections: Option<u64>,
}

impl RateLimits {
    pub(crate) fn lowest(self, other: Self) -> Self {
        let lower = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self {
            requests_per_minute: lower(self.requests_per_minute, other.requests_per_minute),
            tokens_per_minute: lower(self.tokens_per_minute, other.tokens_per_minute),
            max_connections: lower(self.max_connections, other.max_connections),
        }
    }
}
