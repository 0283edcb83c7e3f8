//! What a task has spent.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Spending of one model call, one task, or a task with its descendants, as providers reported it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, into = "Written")]
pub struct Usage {
    /// Input that was neither read from nor written to the provider's cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// Model calls that were answered.
    pub turns: u64,
    /// Tool calls that ran.
    pub tool_calls: u64,
    /// Wall-clock time in which somebody ran it; descendants run inside it and add nothing.
    pub duration_ms: u64,
}

impl Usage {
    /// Whether there is nothing to tell.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Everything that counts against a token limit: input, cached input and output.
    pub fn total_tokens(&self) -> u64 {
        [self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// Adds spending. Time is not spending: `duration_ms` stays.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.turns = self.turns.saturating_add(other.turns);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
    }
}

/// The written form: the sum stands beside its parts, for readers that only want the total.
#[derive(Serialize)]
struct Written {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    total_tokens: u64,
    turns: u64,
    tool_calls: u64,
    duration_ms: u64,
}

impl From<Usage> for Written {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            total_tokens: usage.total_tokens(),
            turns: usage.turns,
            tool_calls: usage.tool_calls,
            duration_ms: usage.duration_ms,
        }
    }
}
