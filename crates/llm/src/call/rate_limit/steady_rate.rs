//! Steady rate: the time at which the next request may pass. It does not wait, and asks no clock.

use std::time::Duration;

use tokio::time::Instant;

/// However much has passed at once, what follows is not held up for longer than this.
const LONGEST_DEBT: Duration = Duration::from_hours(1);

/// Lets an amount pass each second, evenly.
#[derive(Debug, Clone)]
pub(super) struct SteadyRate {
    pub(super) per_second: f64,
    /// How far ahead of the steady rate it may be.
    slack: Duration,
    /// When all that has passed would have, at the steady rate.
    due: Instant,
}

impl SteadyRate {
    pub(super) fn new(per_second: f64, slack: Duration, now: Instant) -> Self {
        Self { per_second, slack, due: now }
    }

    /// The time that the next one has to wait.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        self.due.saturating_duration_since(now + self.slack)
    }

    /// Lets `amount` pass. What was not used before is lost, so that nothing is made up for in a burst.
    pub(super) fn take(&mut self, amount: f64, now: Instant) {
        let time = Duration::try_from_secs_f64(amount / self.per_second).unwrap_or(LONGEST_DEBT);
        self.due = (self.due.max(now) + time.min(LONGEST_DEBT)).min(now + LONGEST_DEBT);
    }

    /// Gives back what was taken and has not passed.
    pub(super) fn give_back(&mut self, amount: f64, now: Instant) {
        let time = Duration::try_from_secs_f64(amount / self.per_second).unwrap_or_default();
        self.due = now + self.due.saturating_duration_since(now).saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of ten passes that come at once, and ten more after `pause`, in milliseconds.
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
    fn what_comes_at_once_passes_evenly_and_nothing_is_made_up_for() {
        let begin = Instant::now();
        let mut rate = SteadyRate::new(10.0, Duration::ZERO, begin);
        let mut expected: Vec<u128> = (0..10).map(|index| index * 100).collect();
        expected.extend((0..10).map(|index| 61_000 + index * 100));
        assert_eq!(passes(&mut rate, begin, Duration::from_mins(1)), expected);
        let mut rate = SteadyRate::new(10.0, Duration::from_millis(200), begin);
        assert_eq!(passes(&mut rate, begin, Duration::ZERO)[..5], [0, 0, 0, 100, 200]);
    }

    #[test]
    fn a_large_amount_passes_and_is_paid_off_afterwards() {
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
