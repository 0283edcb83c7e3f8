//! Limits learnt from an endpoint: requests per second, and concurrent calls.
//!
//! Nothing is known at first, and calls are admitted at a brisk rate. After a refusal, higher rates are tried again:
//! first cautiously, then ever more boldly.

use std::time::Duration;

use tokio::time::Instant;

use super::steady_rate::SteadyRate;

/// Requests per second to an endpoint that has refused nothing yet; each accepted request raises the rate.
const FIRST_RATE: f64 = 500.0;
const FIRST_RAISE: f64 = 20.0;

/// Burst allowance: at the first rate, more calls than usually work at the same time.
const SLACK: Duration = Duration::from_millis(50);

/// Lowest rate, whatever the endpoint says.
const LEAST_RATE: f64 = 1.0 / 30.0;

/// The rate doubles after this many times the wait that a refusal cost. Everybody pays that wait, so refusals should be
/// rare.
const DOUBLES_AFTER: f64 = 20.0;
/// Longest wait that slows down the doubling; longer waits count as this one.
const LONGEST_CARE: Duration = Duration::from_secs(10);

/// Shortest time span in seconds for computing a rate; events at one instant count as this long.
const SHORTEST_SPAN: f64 = 0.001;

/// Rate limits are counted per minute at most; older counts matter less and less.
const MINUTE: Duration = Duration::from_mins(1);

/// The endpoint counts as crowded for this long after the last caller had to wait.
const CROWDED_FOR: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct LearnedLimits {
    pub(super) rate: SteadyRate,
    /// Number of calls that may be under way; infinite until one is refused for their number.
    pub(super) width: f64,
    /// If true, each accepted call adds one to the width; otherwise it takes a full width of calls.
    grows_at_once: bool,
    /// Start of the current crowded period, and the number of requests accepted in it.
    since: Instant,
    taken: f64,
    /// Latest time until which a caller had to wait.
    held_until: Option<Instant>,
    /// Counts up to the last refusal, if that can have been for the rate.
    counted: Option<Counted>,
    lesson: Option<Lesson>,
}

/// Requests accepted before a refusal, and the seconds that took, the wait included. If none were accepted, the refusal
/// may not have been for the rate.
#[derive(Debug)]
struct Counted {
    taken: f64,
    span: f64,
}

/// Lesson of the last refusal about the rate.
#[derive(Debug)]
struct Lesson {
    /// Requests per second to start from, the time of the start, and the seconds until the rate has doubled.
    rate: f64,
    since: Instant,
    doubling: f64,
}

impl Lesson {
    /// Rate that may be tried by now.
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

    /// Records that a caller has to wait until then, for the rate or because the endpoint is closed.
    pub(super) fn hold(&mut self, until: Instant) {
        self.held_until = self.held_until.max(Some(until));
    }

    fn is_crowded(&self, now: Instant) -> bool {
        self.held_until.is_some_and(|until| now <= until + CROWDED_FOR)
    }

    /// Records an admitted request. Requests accepted while nobody had to wait say nothing about the limit.
    pub(super) fn let_in(&mut self, now: Instant) {
        if !self.is_crowded(now) {
            (self.since, self.taken) = (now.max(self.since), 0.0);
        }
    }

    /// Records an accepted request, with the number of calls now streaming.
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

    /// Records a request that was admitted before the last refusal and accepted after it: the lesson was too strict.
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

    /// Records a refusal for too many requests, with the calls then streaming; the endpoint stays closed for `wait`.
    /// The new limit is the rate of accepted requests, or if none was accepted, the number of streaming calls. If
    /// nobody had to wait before, the real limit is unknown: calls are added one by one, and the next refusal gives the
    /// lesson.
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

    /// Records an overload, with the calls then streaming; half as many are allowed from now on.
    pub(super) fn overload(&mut self, streaming: u32, wait: Duration, now: Instant) {
        self.narrow(streaming / 2);
        self.counted = None;
        (self.since, self.taken) = (now + wait, 0.0);
    }

    fn widen(&mut self, streaming: u32) {
        let step = if self.grows_at_once { 1.0 } else { 1.0 / self.width };
        self.width = (self.width + step).max(f64::from(streaming));
    }

    /// Narrows the width. A width of zero was an outage: after it, each accepted call admits two more.
    fn narrow(&mut self, width: u32) {
        self.width = f64::from(width.max(1));
        self.grows_at_once = width == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_refusal_the_rate_grows_slowly_at_first_and_then_faster() {
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
    fn requests_accepted_without_a_queue_teach_no_rate() {
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
        assert_eq!(width, "4", "besides the streaming calls, one is tried, then two, then four");
    }

    #[test]
    fn old_requests_count_less_for_the_rate() {
        let begin = Instant::now();
        let mut learned = LearnedLimits::new(begin);
        // One per second for ten minutes, then ten per second for one minute.
        let (slow, quick) = (1..=600, 1..=600);
        slow.for_each(|second| learned.accept(0, begin + Duration::from_secs(second)));
        let later = begin + Duration::from_mins(10);
        quick.for_each(|tenth| learned.accept(0, later + Duration::from_millis(100) * tenth));
        learned.hold(later + Duration::from_mins(1));
        learned.refuse(0, Duration::from_secs(1), later + Duration::from_mins(1));
        assert!((7.0..10.0).contains(&learned.rate.per_second), "{}", learned.rate.per_second);
    }
}
