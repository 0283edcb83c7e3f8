//! Money: US dollars, counted in nanodollars, so that sums of many small amounts are exact.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

const NANOS: f64 = 1_000_000_000.0;

/// An amount spent or to spend; never negative. Serialised as a number of dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u64);

impl Money {
    pub const ZERO: Self = Self(0);

    /// Converts dollars. `None` if negative or not a number; too large an amount saturates.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is no less than 0; `as` saturates"
        )]
        (dollars >= 0.0).then(|| Self((dollars * NANOS).round() as u64))
    }

    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub const fn nanos(self) -> u64 {
        self.0
    }

    #[expect(clippy::cast_precision_loss, reason = "nine digits behind the point are enough for millions of dollars")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / NANOS
    }

    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}

/// Shows cents from a dollar on; below that, enough digits to tell the amount from zero.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.0 {
            0 | 1_000_000_000.. => 2,
            100_000.. => 4,
            _ => 6,
        };
        write!(f, "${:.digits$}", self.dollars())
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::from_dollars(dollars).ok_or_else(|| D::Error::custom(format!("{dollars} is not an amount of money")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_dollars_and_read_back_exactly() {
        for nanos in [0, 1, 999, 12_345_678, 1_000_000_001, 123_456_789_012_345] {
            let money = Money::from_nanos(nanos);
            let written = serde_json::to_string(&money).unwrap();
            assert_eq!(serde_json::from_str::<Money>(&written).unwrap(), money, "{written}");
        }
        assert_eq!(Money::from_dollars(0.25), Some(Money::from_nanos(250_000_000)));
        assert_eq!(Money::from_dollars(-0.01), None);
        assert_eq!(Money::from_dollars(f64::NAN), None);
    }

    #[test]
    fn amounts_are_shown_to_the_cent_and_small_ones_with_more_digits() {
        let shown = |nanos| Money::from_nanos(nanos).to_string();
        assert_eq!(shown(0), "$0.00");
        assert_eq!(shown(12_340_000_000), "$12.34");
        assert_eq!(shown(12_340_000), "$0.0123");
        assert_eq!(shown(12_000), "$0.000012");
    }
}
