//! Limits learned from an endpoint: the requests that it takes in a second, and the calls at once.
//!
//! Nothing is known at first, and a crowd is let in at a quick march. What a refusal taught is tried out again
//! afterwards, first gently, then ever more boldly.

use std::time::Duration;

use tokio::time::Instant;

use super::steady_rate::SteadyRate;

/// Requests a second to an endpoint that has refused nothing yet; each one that it takes adds some.
const FIRST_RATE: f64 = 500.0;
const FIRST_RAISE: f64 = 20.0;

/// What may come at once: at first more than usually work at the same time.
const SLACK: Duration = Duration::from_millis(50);

/// No endpoint is asked less often than this, whatever it says.
const LEAST_RATE: f64 = 1.0 / 30.0;

/// After so many times the wait that a refusal cost, twice its rate is tried. A refusal costs everybody that wait, so
/// it should be rare beside it.
const DOUBLES_AFTER: f64 = 20.0;
/// A longer wait does not make us more careful than this.
const LONGEST_CARE: Duration = Duration::from_secs(10);

/// What happens at one instant is counted as if it had taken so many seconds.
const SHORTEST_SPAN: f64 = 0.001;

/// Limits are counted by the minute at most; what was longer ago tells less and less.
const MINUTE: Duration = Duration::from_mins(1);

/// For so long after the last one who had to wait, there are as many as the endpoint can be asked for.
const CROWDED_FOR: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct LearnedLimits {
    pub(super) rate: SteadyRate,
    /// Calls that may be under way; infinite until one is refused for their number.
    pub(super) width: f64,
    /// Whether one call that is taken makes it wider by one, or as many as it is wide.
    grows_at_once: bool,
    /// Since when requests have been let in with others behind them, and how many of them were taken.
    since: Instant,
    taken: f64,
    /// Until when somebody had to wait last.
    held_until: Option<Instant>,
    /// What was counted up to the last refusal, if that can have been for the rate.
    counted: Option<Counted>,
    lesson: Option<Lesson>,
}

/// Requests that were taken before a refusal, and the seconds in which they were, the wait included. If there were
/// none, it may not have been the rate.
#[derive(Debug)]
struct Counted {
    taken: f64,
    span: f64,
}

/// What the last refusal taught of the rate.
#[derive(Debug)]
struct Lesson {
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

impl LearnedLimits {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            rate: SteadyRate::new(FIRST_RATE, SLACK, now),
            width: f64::INFINITY,
            grows_at_once: false,
            since: now,
            taken: 0.0,
            held_until: None,
            counted: None,
            lesson: None,
        }
    }

    /// Somebody has to wait until then, for the rate or because nobody is let in.
    pub(super) fn hold(&mut self, until: Instant) {
        self.held_until = self.held_until.max(Some(until));
    }

    fn is_crowded(&self, now: Instant) -> bool {
        self.held_until.is_some_and(|until| now <= until + CROWDED_FOR)
    }

    /// A request is let in. What was taken while nobody had to wait tells nothing of how many would have been.
    pub(super) fn let_in(&mut self, now: Instant) {
        if !self.is_crowded(now) {
            (self.since, self.taken) = (now.max(self.since), 0.0);
        }
    }

    /// A request was taken; so many are streaming now.
    pub(super) fn accept(&mut self, streaming: u32, now: Instant) {
        let open = now.saturating_duration_since(self.since);
        if open > MINUTE {
            self.since += open / 2;
            self.taken /= 2.0;
        }
        self.taken += 1.0;
        self.widen(streaming);
        self.rate.per_second = match &self.lesson {
            None => self.rate.per_second + FIRST_RAISE,
            Some(lesson) => lesson.rate_at(now),
        };
    }

    /// A request was taken that had been let in before the last refusal: that one taught too little.
    pub(super) fn accept_late(&mut self, streaming: u32) {
        self.widen(streaming);
        let (Some(counted), Some(lesson)) = (&mut self.counted, &mut self.lesson) else { return };
        if counted.taken < 1.0 {
            // It was the rate after all.
            self.width = f64::INFINITY;
        }
        counted.taken += 1.0;
        lesson.rate = (counted.taken / counted.span).max(LEAST_RATE);
        self.rate.per_second = lesson.rate;
    }

    /// Too many requests, while so many calls streamed; nobody is let in for the time of `wait`. As many requests as
    /// were taken will do; if none was, as many calls as stream. But if nobody had to wait before, nobody knows how
    /// many would have been taken: more are tried one by one, and what comes of that is the lesson.
    pub(super) fn refuse(&mut self, streaming: u32, wait: Duration, now: Instant) {
        if self.is_crowded(now) {
            self.learn(streaming, wait, now);
        } else {
            self.width = f64::from(streaming) + 1.0;
            self.grows_at_once = true;
            self.counted = None;
        }
        (self.since, self.taken) = (now + wait, 0.0);
    }

    fn learn(&mut self, streaming: u32, wait: Duration, now: Instant) {
        let taken = self.taken;
        let span = (now.saturating_duration_since(self.since) + wait).as_secs_f64().max(SHORTEST_SPAN);
        let doubling = wait.min(LONGEST_CARE).as_secs_f64().max(SHORTEST_SPAN) * DOUBLES_AFTER;
        if taken < 1.0 {
            self.narrow(streaming);
        } else {
            self.rate.per_second = (taken / span).max(LEAST_RATE);
        }
        self.counted = Some(Counted { taken, span });
        self.lesson = Some(Lesson { rate: self.rate.per_second, since: now + wait, doubling });
    }

    /// Too much work, while so many calls streamed: half of them will do.
    pub(super) fn overload(&mut self, streaming: u32, wait: Duration, now: Instant) {
        self.narrow(streaming / 2);
        self.counted = None;
        (self.since, self.taken) = (now + wait, 0.0);
    }

    fn widen(&mut self, streaming: u32) {
        let step = if self.grows_at_once { 1.0 } else { 1.0 / self.width };
        self.width = (self.width + step).max(f64::from(streaming));
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
        let mut learned = LearnedLimits::new(begin);
        learned.hold(begin);
        (0..30).for_each(|_| learned.accept(0, begin));
        learned.refuse(0, Duration::from_secs(10), begin);
        let rates = [10, 30, 210, 610].map(|second| {
            learned.accept(0, begin + Duration::from_secs(second));
            format!("{:.2}", learned.rate.per_second)
        });
        assert_eq!(rates, ["3.00", "3.03", "6.00", "30.00"]);
    }

    #[test]
    fn what_was_taken_while_nobody_had_to_wait_teaches_no_rate() {
        let begin = Instant::now();
        let mut learned = LearnedLimits::new(begin);
        let mut now = begin;
        for _ in 0..8 {
            learned.let_in(now);
            now += Duration::from_millis(1500);
            learned.accept(1, now);
        }
        (0..12).for_each(|_| learned.let_in(now));
        learned.refuse(2, Duration::from_secs(1), now);
        learned.accept_late(3);
        assert!(learned.rate.per_second > 100.0, "{}", learned.rate.per_second);
        let width = learned.width.floor().to_string();
        assert_eq!(width, "4", "beside those that stream one is tried, then two, then four");
    }

    #[test]
    fn what_was_long_ago_tells_less_of_the_rate() {
        let begin = Instant::now();
        let mut learned = LearnedLimits::new(begin);
        // One a second for ten minutes, and then ten a second for one.
        let (slow, quick) = (1..=600, 1..=600);
        slow.for_each(|second| learned.accept(0, begin + Duration::from_secs(second)));
        let later = begin + Duration::from_mins(10);
        quick.for_each(|tenth| learned.accept(0, later + Duration::from_millis(100) * tenth));
        learned.hold(later + Duration::from_mins(1));
        learned.refuse(0, Duration::from_secs(1), later + Duration::from_mins(1));
        assert!((7.0..10.0).contains(&learned.rate.per_second), "{}", learned.rate.per_second);
    }
}
