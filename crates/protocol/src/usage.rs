//! Usage of a task.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::Money;

/// Usage of one model call, one task, or a task with its descendants, as providers reported it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Usage {
    /// Input that was neither read from nor written to the provider's cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// Cost of the tokens with a known price.
    pub cost: Money,
    /// Number of tokens with a known price.
    pub priced_tokens: u64,
    /// Model calls that got an answer.
    pub turns: u64,
    /// Tool calls that ran.
    pub tool_calls: u64,
    /// Tool calls that ran and failed.
    pub failed_calls: u64,
    /// Wall-clock time in which a process ran the task; descendants run inside it and add nothing.
    pub duration_ms: u64,
}

/// Result of a tool call that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    Done,
    Failed,
}

impl Usage {
    /// True if nothing was used.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Everything that counts against a token limit: input, cached input and output.
    pub fn total_tokens(&self) -> u64 {
        self.all_input_tokens().saturating_add(self.output_tokens)
    }

    /// All input, cached or not.
    pub fn all_input_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }

    /// The known part of the cost; `None` if no token has a known price.
    pub fn known_cost(&self) -> Option<Money> {
        (self.priced_tokens > 0).then_some(self.cost)
    }

    /// Usage of one tool call that ran.
    pub fn of_call(result: CallResult) -> Self {
        let failed_calls = u64::from(result == CallResult::Failed);
        Self { tool_calls: 1, failed_calls, ..Self::default() }
    }

    /// Number of tokens without a known price.
    pub fn unpriced_tokens(&self) -> u64 {
        self.total_tokens().saturating_sub(self.priced_tokens)
    }
}

/// Adds usage. `duration_ms` stays: time is not consumed.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.cost += other.cost;
        self.priced_tokens = self.priced_tokens.saturating_add(other.priced_tokens);
        self.turns = self.turns.saturating_add(other.turns);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.failed_calls = self.failed_calls.saturating_add(other.failed_calls);
    }
}

/// The serialised form. It adds the total for readers that want nothing else, the cost if known, and the number of
/// tokens that the cost leaves out.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Written {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<Money>,
    #[serde(skip_serializing_if = "is_zero")]
    unpriced_tokens: u64,
    turns: u64,
    tool_calls: u64,
    #[serde(skip_serializing_if = "is_zero")]
    failed_calls: u64,
    duration_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<Usage> for Written {
    fn from(usage: Usage) -> Self {
        let cost_usd = usage.known_cost();
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            total_tokens: usage.total_tokens(),
            cost_usd,
            unpriced_tokens: cost_usd.map_or(0, |_| usage.unpriced_tokens()),
            turns: usage.turns,
            tool_calls: usage.tool_calls,
            failed_calls: usage.failed_calls,
            duration_ms: usage.duration_ms,
        }
    }
}

impl From<Written> for Usage {
    fn from(written: Written) -> Self {
        let usage = Self {
            input_tokens: written.input_tokens,
            output_tokens: written.output_tokens,
            cache_read_tokens: written.cache_read_tokens,
            cache_write_tokens: written.cache_write_tokens,
            cost: written.cost_usd.unwrap_or_default(),
            priced_tokens: 0,
            turns: written.turns,
            tool_calls: written.tool_calls,
            failed_calls: written.failed_calls,
            duration_ms: written.duration_ms,
        };
        let priced_tokens = usage.total_tokens().saturating_sub(written.unpriced_tokens);
        Self { priced_tokens: written.cost_usd.map_or(0, |_| priced_tokens), ..usage }
    }
}
