//! Prices of a model, and the cost of a call at these prices.

use sortie_protocol::{Money, Usage};

/// US dollars per million tokens of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

impl Prices {
    /// Prices of a model that costs nothing.
    pub const FREE: Self = Self { input: Some(0.0), output: Some(0.0), cache_read: Some(0.0), cache_write: Some(0.0) };

    /// True if the cost of a call can be computed.
    pub fn are_known(&self) -> bool {
        self.input.is_some() && self.output.is_some()
    }

    /// Adds the cost of the tokens, if it is known. Input kinds without a price of their own cost as much as plain
    /// input.
    #[must_use]
    pub fn priced(&self, usage: Usage) -> Usage {
        let (Some(input), Some(output)) = (self.input, self.output) else { return usage };
        // One dollar per million tokens is 1,000 billionths of a dollar per token.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "as priced"
        )]
        let nanos = |tokens: u64, dollars: f64| (tokens as f64 * dollars * 1000.0).ceil() as u64;
        let parts = [
            nanos(usage.input_tokens, input),
            nanos(usage.output_tokens, output),
            nanos(usage.cache_read_tokens, self.cache_read.unwrap_or(input)),
            nanos(usage.cache_write_tokens, self.cache_write.unwrap_or(input)),
        ];
        let cost = Money::from_nanos(parts.into_iter().fold(0, u64::saturating_add));
        Usage { cost, priced_tokens: usage.total_tokens(), ..usage }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            input: self.input.or(other.input),
            output: self.output.or(other.output),
            cache_read: self.cache_read.or(other.cache_read),
            cache_write: self.cache_write.or(other.cache_write),
        }
    }
}
