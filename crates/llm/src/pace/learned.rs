//! What an endpoint has shown of its own limits: how many requests it takes in a second, and how many calls at once.
//!
//! Nothing is known at first, and a crowd is let in at a quick march. What is learnt from a refusal is tried out again
//! afterwards, first gently, then ever more boldly.

use std::time::Duration;

use tokio::time::Instant;

use super::meter::Meter;

/// Requests a second to an endpoint that has refused nothing yet; each one that it takes adds some.
const FIRST_RATE: f64 = 500.0;
const FIRST_RAISE: f64 = 20.0;

/// What may come at once: at first more than usually work at the same time.
const SLACK: Duration = Duration::from_millis(50);

/// No endpoint is asked less often than this, whatever it says.
const LEAST_RATE: f64 = 1.0 / 30.0;

/// After so many times the wait that a refusal cost, twice its rate is tried. A refusal costs everybody that wait, so it
/// should be rare beside it.
const DOUBLES_AFTER: f64 = 20.0;
/// A longer wait does not make us more careful than this.
const LONGEST_CARE: Duration = Duration::from_secs(10);

/// What happens at one instant is counted as if it had taken so many seconds.
const SHORTEST_SPAN: f64 = 0.001;

/// Limits are counted by the minute at most; what was longer ago tells less and less.
const MINUTE: Duration = Duration::from_mins(1);

/// Nobody asks for so long: whoever comes then comes anew.
const QUIET: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Learned {
    pub(super) rate: Meter,
    /// Calls that may be under way; infinite until one is refused for their number.
    pub(super) width: f64,
    /// Whether one call that is taken makes it wider by one, or as many as it is wide.
    grows_at_once: bool,
    /// Since when requests have been let in, and how many of them were taken.
    since: Instant,
    taken: f64,
    /// When one was let in last.
    let_in: Instant,
    lesson: Option<Lesson>,
}

/// What the last refusal taught of the rate.
#[derive(Debug)]
struct Lesson {
    /// Requests that were taken before it, and the seconds in which they were, the wait included. If there were none, it
    /// may not be the rate.
    taken: f64,
    span: f64,
    /// Requests a second from which it went on, when that was, and in how many seconds it is doubled.
    rate: f64,
    since: Instant,
    doubling: f64,
}

impl Lesson {
    /// What may be tried by now.
    fn rate_at(&self, now: Instant) -> f64 {
        let boldness = now.saturating_duration_since(self.since).as_secs_f64() / self.doubling;
        self.rate * (1.0 + boldness * boldness)
    }
}

impl Learned {
    pub(super) fn new(now: Instant) -> Self {
        let rate = Meter::new(FIRST_RATE, SLACK, now);
        Self { rate, width: f64::INFINITY, grows_at_once: false, since: now, taken: 0.0, let_in: now, lesson: None }
    }

    /// A request is let in. What was taken before a time in which nobody asked tells nothing of how many would have been.
    pub(super) fn let_in(&mut self, now: Instant) {
        let quiet = now.saturating_duration_since(self.let_in);
        let between = Duration::from_secs_f64(1.0 / self.rate.per_second.max(LEAST_RATE));
        if quiet > QUIET.max(between * 2) {
            (self.since, self.taken) = (now.max(self.since), 0.0);
        }
        self.let_in = now;
    }

    /// A request was taken; so many are streaming now.
    pub(super) fn take(&mut self, streaming: u32, now: Instant) {
        let open = now.saturating_duration_since(self.since);
        if open > MINUTE {
            self.since += open / 2;
            self.taken /= 2.0;
        }
        self.taken += 1.0;
        let step = if self.grows_at_once { 1.0 } else { 1.0 / self.width };
        self.width = (self.width + step).max(f64::from(streaming));
        self.rate.per_second = match &self.lesson {
            None => self.rate.per_second + FIRST_RAISE,
            Some(lesson) => lesson.rate_at(now),
        };
    }

    /// A request was taken that had been let in before the last refusal: that one taught too little.
    pub(super) fn take_late(&mut self, streaming: u32) {
        self.width = self.width.max(f64::from(streaming));
        let Some(lesson) = &mut self.lesson else { return };
        if lesson.taken < 1.0 {
            // It was the rate after all.
            self.width = f64::INFINITY;
        }
        lesson.taken += 1.0;
        lesson.rate = (lesson.taken / lesson.span).max(LEAST_RATE);
        self.rate.per_second = lesson.rate;
    }

    /// Too many requests, while so many calls streamed; nobody is let in for the time of `wait`. As many requests as were
    /// taken will do; if none was, as many calls as stream.
    pub(super) fn refuse(&mut self, streaming: u32, wait: Duration, now: Instant) {
        let taken = self.taken;
        let span = (now.saturating_duration_since(self.since) + wait).as_secs_f64().max(SHORTEST_SPAN);
        let doubling = wait.min(LONGEST_CARE).as_secs_f64().max(SHORTEST_SPAN) * DOUBLES_AFTER;
        if taken < 1.0 {
            self.narrow(streaming);
        } else {
            self.rate.per_second = (taken / span).max(LEAST_RATE);
        }
        let since = now + wait;
        self.lesson = Some(Lesson { taken, span, rate: self.rate.per_second, since, doubling });
        (self.since, self.taken) = (since, 0.0);
    }

    /// Too much work, while so many calls streamed: half of them will do.
    pub(super) fn overload(&mut self, streaming: u32, wait: Duration, now: Instant) {
        self.narrow(streaming / 2);
        (self.since, self.taken) = (now + wait, 0.0);
    }

    /// If none works at all, that was an outage: each call that is taken after it lets two come.
    fn narrow(&mut self, width: u32) {
        self.width = f64::from(width.max(1));
        self.grows_at_once = width == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_is_tried_out_first_gently_then_boldly_however_long_it_takes() {
        let begin = Instant::now();
        let mut learned = Learned::new(begin);
        (0..30).for_each(|_| learned.take(0, begin));
        learned.refuse(0, Duration::from_secs(10), begin);
        let rates = [10, 30, 210, 610].map(|second| {
            learned.take(0, begin + Duration::from_secs(second));
            format!("{:.2}", learned.rate.per_second)
        });
        assert_eq!(rates, ["3.00", "3.03", "6.00", "30.00"]);
    }

    #[test]
    fn a_time_in_which_nobody_asked_teaches_no_rate() {
        let begin = Instant::now();
        let mut learned = Learned::new(begin);
        learned.let_in(begin);
        learned.take(1, begin);
        let later = begin + Duration::from_mins(1);
        (0..12).for_each(|_| learned.let_in(later));
        learned.refuse(0, Duration::from_secs(1), later);
        assert!(learned.rate.per_second > 100.0, "{}", learned.rate.per_second);
        assert!(learned.grows_at_once, "one is tried, then two, then four");
    }

    #[test]
    fn what_was_long_ago_tells_less_of_the_rate() {
        let begin = Instant::now();
        let mut learned = Learned::new(begin);
        // One a second for ten minutes, and then ten a second for one.
        let (slow, quick) = (1..=600, 1..=600);
        slow.for_each(|second| learned.take(0, begin + Duration::from_secs(second)));
        let later = begin + Duration::from_mins(10);
        quick.for_each(|tenth| learned.take(0, later + Duration::from_millis(100) * tenth));
        learned.refuse(0, Duration::from_secs(1), later + Duration::from_mins(1));
        assert!((7.0..10.0).contains(&learned.rate.per_second), "{}", learned.rate.per_second);
    }
}
