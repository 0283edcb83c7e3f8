//! Settings of model calls, common to all routes: retries and the idle timeout.

use std::time::Duration;

/// Retries and the idle timeout of every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSettings {
    /// Tries after the first one.
    pub max_retries: u32,
    /// Longest wait before the first retry; it doubles with each further one.
    pub retry_base: Duration,
    /// Time without content after which a call counts as stalled; several times as long while its model is known to
    /// reason silently.
    pub idle_timeout: Duration,
}

impl Default for CallSettings {
    fn default() -> Self {
        Self { max_retries: 5, retry_base: Duration::from_millis(500), idle_timeout: Duration::from_mins(1) }
    }
}
