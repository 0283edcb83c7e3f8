//! Steady rate: the time at which the next request may pass. It does not wait, and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Longest delay for later requests, however much has passed at once.
const LONGEST_DEBT: Duration = Duration::from_hours(1);

/// Lets an amount pass per second, evenly.
#[derive(Debug, Clone)]
pub(super) struct SteadyRate {
    pub(super) per_second: f64,
    /// Permitted lead over the steady rate.
    slack: Duration,
    /// Time at which everything so far would have passed at the steady rate.
    due: Instant,
}

impl SteadyRate {
    pub(super) fn new(per_second: f64, slack: Duration, now: Instant) -> Self {
        Self { per_second, slack, due: now }
    }

    /// Time that the next request has to wait.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        self.due.saturating_duration_since(now + self.slack)
    }

    /// Lets `amount` pass. Unused time is lost, so that no burst makes up for it.
    pub(super) fn take(&mut self, amount: f64, now: Instant) {
        let time = Duration::try_from_secs_f64(amount / self.per_second).unwrap_or(LONGEST_DEBT);
        self.due = (self.due.max(now) + time.min(LONGEST_DEBT)).min(now + LONGEST_DEBT);
    }

    /// Gives back an amount that was taken and not used.
    pub(super) fn give_back(&mut self, amount: f64, now: Instant) {
        let time = Duration::try_from_secs_f64(amount / self.per_second).unwrap_or_default();
        self.due = now + self.due.saturating_duration_since(now).saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times, in milliseconds, of ten immediate passes and of ten more after `pause`.
    fn passes(rate: &mut SteadyRate, begin: Instant, pause: Duration) -> Vec<u128> {
        let mut now = begin;
        let mut at = Vec::new();
        for index in 0..20 {
            now += rate.wait(now);
            if index == 10 {
                now += pause;
            }
            rate.take(1.0, now);
            at.push(now.duration_since(begin).as_millis());
        }
        at
    }

    #[test]
    fn a_burst_is_spread_evenly_and_idle_time_is_not_made_up() {
        let begin = Instant::now();
        let mut rate = SteadyRate::new(10.0, Duration::ZERO, begin);
        let mut expected: Vec<u128> = (0..10).map(|index| index * 100).collect();
        expected.extend((0..10).map(|index| 61_000 + index * 100));
        assert_eq!(passes(&mut rate, begin, Duration::from_mins(1)), expected);
        let mut rate = SteadyRate::new(10.0, Duration::from_millis(200), begin);
        assert_eq!(passes(&mut rate, begin, Duration::ZERO)[..5], [0, 0, 0, 100, 200]);
    }

    #[test]
    fn a_large_amount_passes_at_once_and_delays_the_next() {
        let begin = Instant::now();
        let mut rate = SteadyRate::new(1000.0, Duration::ZERO, begin);
        rate.take(90_000.0, begin);
        assert_eq!(rate.wait(begin), Duration::from_secs(90));
        rate.give_back(60_000.0, begin);
        assert_eq!(rate.wait(begin), Duration::from_secs(30));
        rate.take(f64::MAX, begin);
        assert_eq!(rate.wait(begin), LONGEST_DEBT);
    }
}
