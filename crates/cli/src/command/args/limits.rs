//! Flags that limit a run. The run itself combines them with other limits.

use std::time::Duration;

use clap::Args;
use sortie_protocol::{Limits, Money};

use super::parse_duration;

/// Limit flags, shared by every command that starts or resumes a task.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop after this many model calls and report
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,

    /// Stop before using more tokens than this, sub-agents included: 80000, 80k, 1.5M
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    max_tokens: Option<u64>,

    /// Stop before the cost exceeds this, sub-agents included: 0.50 is fifty cents
    #[arg(long, value_name = "AMOUNT", value_parser = parse_dollars)]
    max_cost_usd: Option<Money>,

    /// Stop after this time: 90s, 5m, 1h; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Retry a model call after this long without output
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    idle_timeout: Option<Duration>,

    /// Start at most this many sub-agents in all; 0 for none
    #[arg(long, value_name = "N")]
    max_children: Option<u32>,
}

impl LimitArgs {
    /// Limits that were given.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            max_turns: self.max_turns,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost_usd,
            timeout: self.timeout,
            idle: self.idle_timeout,
            max_children: self.max_children,
        }
    }

    /// These limits, completed from `otherwise`.
    pub(crate) fn or(&self, otherwise: Limits) -> Limits {
        let given = self.limits();
        Limits {
            max_turns: given.max_turns.or(otherwise.max_turns),
            max_tokens: given.max_tokens.or(otherwise.max_tokens),
            max_cost: given.max_cost.or(otherwise.max_cost),
            timeout: given.timeout.or(otherwise.timeout),
            idle: given.idle.or(otherwise.idle),
            max_children: given.max_children.or(otherwise.max_children),
        }
    }
}

/// Reads `80000`, `80k` or `1.5M`.
fn parse_tokens(text: &str) -> Result<u64, String> {
    const HOW: &str = "write it like 80000, 80k or 1.5M";
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1.0), |number| (number, 1e6)),
    };
    let is_plain = number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let tokens = number.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * unit).ok_or(HOW)?;
    if tokens < 1.0 {
        return Err("it must be at least 1".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1; `as` saturates")]
    if tokens.fract() == 0.0 { Ok(tokens as u64) } else { Err(HOW.to_owned()) }
}

/// Reads an amount of US dollars.
fn parse_dollars(text: &str) -> Result<Money, String> {
    let money = text.parse().ok().filter(|dollars: &f64| dollars.is_finite()).and_then(Money::from_dollars);
    match money {
        Some(money) if money > Money::ZERO => Ok(money),
        Some(_) => Err("it must be more than 0".to_owned()),
        None => Err("write it as a number of US dollars, like 0.50".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_in_ones_thousands_or_millions() {
        let read = [("1", 1), ("80000", 80_000), ("80k", 80_000), ("1.5M", 1_500_000), ("0.5k", 500)];
        for (text, tokens) in read {
            assert_eq!(parse_tokens(text), Ok(tokens), "{text}");
        }
        for text in ["", "k", "0", "-1", "1e9", "1.5", "many", "1kk", "inf"] {
            assert!(parse_tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_amount_of_money_is_more_than_zero() {
        assert_eq!(parse_dollars("0.50"), Ok(Money::from_nanos(500_000_000)));
        assert_eq!(parse_dollars("3"), Ok(Money::from_nanos(3_000_000_000)));
        for text in ["", "0", "-1", "$1", "NaN", "inf", "0.0000000001"] {
            assert!(parse_dollars(text).is_err(), "{text}");
        }
    }
}
