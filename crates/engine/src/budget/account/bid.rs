//! The maximum cost of a model call, and whether it fits: pure arithmetic over one account at a time.

use sortie_llm::catalogue::Prices;
use sortie_protocol::{Failure, FailureCode, Limit, Limits, Money, Usage};

/// Shortest reply that is worth its input.
const LEAST_OUTPUT: u64 = 256;

/// A call waits for others if they leave it less than this fraction of the wanted reply.
const WORTH_WAITING: u64 = 2;

/// Longest report at a limit.
const REPORT_OUTPUT: u64 = 1024;

/// Tokens and their cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) tokens: u64,
    pub(super) cost: Money,
}

/// A call that its task wants to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bid {
    /// Estimated input.
    pub(crate) input_tokens: u64,
    /// Wanted maximum of the reply.
    pub(crate) max_output: u64,
    pub(crate) prices: Prices,
    /// True for the one call at a limit that has an amount set aside.
    pub(crate) is_report: bool,
}

/// The reason why a call cannot be made now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    /// Others hold what it needs, and may give it back.
    Held,
    OverLimit(Limit),
}

/// State of one account, without the amount that the bidding task has set aside itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stand {
    pub(super) limits: Limits,
    /// Spent, or set aside for reports of waiting tasks.
    pub(super) fixed: Amount,
    /// Reserved for calls under way, or set aside by working tasks: it may come back.
    pub(super) passing: Amount,
}

impl Stand {
    /// Returns the amount that is neither spent nor held.
    pub(super) fn left(&self) -> Amount {
        let Self { limits, fixed, passing } = self;
        let most = Amount {
            tokens: limits.max_tokens.unwrap_or(u64::MAX),
            cost: limits.max_cost.unwrap_or(Money::from_nanos(u64::MAX)),
        };
        most.minus(fixed.plus(*passing))
    }
}

impl Stand {
    /// Returns what is left of each limit. Fails if nothing is left of one.
    pub(super) fn left_of_limits(&self) -> Result<Limits, Short> {
        let Self { limits, fixed, passing } = self;
        let mut left = Limits::default();
        if let Some(max) = limits.max_tokens {
            short(max, fixed.tokens, passing.tokens, 1).map_or(Ok(()), |lack| Err(lack.or(Limit::Tokens)))?;
            left.max_tokens = Some(max.saturating_sub(fixed.plus(*passing).tokens));
        }
        if let Some(max) = limits.max_cost {
            let [all, fixed_cost, passing_cost] = [max, fixed.cost, passing.cost].map(Money::nanos);
            short(all, fixed_cost, passing_cost, 1).map_or(Ok(()), |lack| Err(lack.or(Limit::Cost)))?;
            left.max_cost = Some(max.saturating_sub(fixed.plus(*passing).cost));
        }
        Ok(left)
    }
}

impl Amount {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), cost: self.cost.saturating_add(other.cost) }
    }

    pub(super) fn or_less(self, other: Self) -> Self {
        Self { tokens: self.tokens.min(other.tokens), cost: self.cost.min(other.cost) }
    }

    pub(super) fn or_more(self, other: Self) -> Self {
        Self { tokens: self.tokens.max(other.tokens), cost: self.cost.max(other.cost) }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_sub(other.tokens), cost: self.cost.saturating_sub(other.cost) }
    }
}

impl From<Usage> for Amount {
    fn from(usage: Usage) -> Self {
        Self { tokens: usage.total_tokens(), cost: usage.cost }
    }
}

impl Bid {
    /// No model call: nothing is reserved for it, nor for a report after it.
    pub(super) fn nothing() -> Self {
        Self { input_tokens: 0, max_output: 0, prices: Prices::default(), is_report: true }
    }

    /// Returns the maximum usage of the call, with all input at the dearest price.
    pub(super) fn usage(&self, output_tokens: u64) -> Usage {
        let is_dearest = self.prices.cache_write.unwrap_or_default() > self.prices.input.unwrap_or_default();
        let (input_tokens, cache_write_tokens) =
            if is_dearest { (0, self.input_tokens) } else { (self.input_tokens, 0) };
        self.prices.priced(Usage { input_tokens, cache_write_tokens, output_tokens, ..Usage::default() })
    }

    /// Returns the amount that the task's report will need after this call.
    pub(super) fn for_report(&self) -> Amount {
        if self.is_report {
            return Amount::default();
        }
        let after = Self { input_tokens: self.input_tokens.saturating_add(LEAST_OUTPUT), ..*self };
        Amount::from(after.usage(REPORT_OUTPUT))
    }

    /// Returns the longest reply with which the call, and a report after it, fit at `stand`, and the limit that bounds
    /// it.
    pub(super) fn room(&self, stand: &Stand) -> Result<(u64, Option<Limit>), Short> {
        let Stand { limits, fixed, passing } = *stand;
        let (bare, fixed) = (Amount::from(self.usage(0)), fixed.plus(self.for_report()));
        let least = Amount::from(self.usage(LEAST_OUTPUT.min(self.max_output)));
        let worth = self.max_output.div_ceil(WORTH_WAITING);
        let mut room = (self.max_output, None);
        if let Some(max) = limits.max_tokens {
            short(max, fixed.tokens, passing.tokens, least.tokens)
                .map_or(Ok(()), |lack| Err(lack.or(Limit::Tokens)))?;
            let left = max.saturating_sub(fixed.plus(passing).plus(bare).tokens);
            wait_for(left, max.saturating_sub(fixed.plus(bare).tokens), worth)?;
            room = less(room, left, Limit::Tokens);
        }
        if let Some(max) = limits.max_cost {
            let [max, fixed_cost, passing_cost, least_cost] =
                [max, fixed.cost, passing.cost, least.cost].map(Money::nanos);
            short(max, fixed_cost, passing_cost, least_cost).map_or(Ok(()), |lack| Err(lack.or(Limit::Cost)))?;
            let left = self.output_for(max.saturating_sub(fixed.plus(passing).plus(bare).cost.nanos()));
            wait_for(left, self.output_for(max.saturating_sub(fixed.plus(bare).cost.nanos())), worth)?;
            room = less(room, left, Limit::Cost);
        }
        Ok(room)
    }

    /// Says that the first call of a task does not fit at `stand`, with the figures.
    pub(super) fn no_room(&self, stand: &Stand, limit: Limit) -> Failure {
        let needed = Amount::from(self.usage(LEAST_OUTPUT.min(self.max_output))).plus(self.for_report());
        let left = Stand { passing: Amount::default(), ..*stand }.left();
        let (needed, left, most) = match limit {
            Limit::Cost => {
                (needed.cost.to_string(), left.cost.to_string(), stand.limits.max_cost.unwrap_or_default().to_string())
            }
            _ => (
                format!("{} tokens", needed.tokens),
                left.tokens.to_string(),
                stand.limits.max_tokens.unwrap_or_default().to_string(),
            ),
        };
        let input = self.input_tokens;
        let message = format!(
            "there is no room for a first model call: with a report after it, it needs at least {needed} (its input has \
             about {input} tokens), and {left} of {most} are left; shorten the prompt or raise the limit"
        );
        Failure::new(FailureCode::NoRoom, message)
    }

    /// Returns the largest input with which the call can ever fit at `stand`, with the shortest reply.
    pub(super) fn most_input(&self, stand: &Stand) -> u64 {
        let Stand { limits, fixed, .. } = *stand;
        let least = Self { input_tokens: 0, ..*self }.usage(LEAST_OUTPUT);
        let taken = fixed.plus(Amount::from(least));
        let by_tokens = limits.max_tokens.map(|max| max.saturating_sub(taken.tokens));
        let by_cost = limits.max_cost.map(|max| {
            let of_a_thousand = Self { input_tokens: 1000, ..*self }.usage(0).cost.nanos();
            let left = max.saturating_sub(taken.cost).nanos();
            left.saturating_mul(1000).checked_div(of_a_thousand).unwrap_or(u64::MAX)
        });
        by_tokens.into_iter().chain(by_cost).min().unwrap_or(u64::MAX)
    }

    /// Returns the tokens of output that this money buys.
    fn output_for(&self, nanos: u64) -> u64 {
        let of_a_thousand = self.prices.priced(Usage { output_tokens: 1000, ..Usage::default() }).cost.nanos();
        nanos.saturating_mul(1000).checked_div(of_a_thousand).unwrap_or(u64::MAX)
    }
}

/// Makes a call wait, rather than cut its reply short for what others hold only for the moment.
fn wait_for(left: u64, without_others: u64, worth: u64) -> Result<(), Short> {
    if left < without_others.min(worth) { Err(Short::Held) } else { Ok(()) }
}

/// Returns the smaller room, with the limit that bounds it.
fn less(room: (u64, Option<Limit>), output: u64, limit: Limit) -> (u64, Option<Limit>) {
    if output < room.0 { (output, Some(limit)) } else { room }
}

/// The cause why `least` does not fit below `max`.
enum Missing {
    WhatOthersHold,
    Everything,
}

impl Missing {
    fn or(self, limit: Limit) -> Short {
        match self {
            Self::WhatOthersHold => Short::Held,
            Self::Everything => Short::OverLimit(limit),
        }
    }
}

fn short(max: u64, fixed: u64, held: u64, least: u64) -> Option<Missing> {
    let needed = fixed.saturating_add(least);
    if needed > max {
        return Some(Missing::Everything);
    }
    (needed.saturating_add(held) > max).then_some(Missing::WhatOthersHold)
}
