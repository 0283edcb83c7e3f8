//! Admission to an endpoint: a pure decision on who may call now, without clock, randomness or connection of its own.

use std::time::Duration;

use tokio::time::Instant;

use super::learned_limits::LearnedLimits;
use super::steady_rate::SteadyRate;
use crate::route::RateLimits;

/// Burst allowance: a tenth of a second's requests, a tenth of a minute's tokens.
const REQUEST_SLACK: Duration = Duration::from_millis(100);
const TOKEN_SLACK: Duration = Duration::from_secs(6);

/// Longest time that an endpoint stays closed, whatever wait it asks for.
const LONGEST_CLOSED: Duration = Duration::from_hours(24);

/// Bounds of the backoff if the endpoint asks for no wait.
const SHORTEST_BACKOFF: Duration = Duration::from_millis(1);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Admission {
    requests: Option<SteadyRate>,
    tokens: Option<SteadyRate>,
    max_connections: f64,
    learned: LearnedLimits,
    /// Calls that were admitted and are not over.
    under_way: u32,
    /// Admitted calls that the endpoint has accepted, and `fresh` ones still unanswered since it was last closed. Older
    /// unanswered calls may yet be refused.
    streaming: u32,
    fresh: u32,
    /// No call is admitted before this time.
    closed_until: Instant,
    /// Number of times it was closed in all, and in a row without an accepted call.
    closings: u64,
    in_vain: u32,
    pub(super) last_accepted: Option<Instant>,
}

/// An admitted call.
#[derive(Debug)]
pub(super) struct Ticket {
    closings: u64,
    tokens: u64,
    pub(super) is_accepted: bool,
}

/// Reason why a call is not admitted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// The endpoint asked for a pause.
    Closed(Duration),
    /// The rate that is set or was learnt.
    Rate(Duration),
    /// The maximum number of calls is under way.
    Room,
}

/// Refusal by an endpoint that accepts no more for now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal {
    pub(super) is_overloaded: bool,
    pub(super) retry_after: Option<Duration>,
    /// First wait if the endpoint asks for none.
    pub(super) retry_base: Duration,
    /// Random number from 0 to 1.
    pub(super) jitter: f64,
}

impl Admission {
    pub(super) fn new(limits: RateLimits, now: Instant) -> Self {
        let steady_rate =
            |per_minute: Option<u64>, slack| per_minute.map(|rate| SteadyRate::new(rate as f64 / 60.0, slack, now));
        Self {
            requests: steady_rate(limits.requests_per_minute, REQUEST_SLACK),
            tokens: steady_rate(limits.tokens_per_minute, TOKEN_SLACK),
            max_connections: limits.max_connections.map_or(f64::INFINITY, |max| max as f64),
            learned: LearnedLimits::new(now),
            under_way: 0,
            streaming: 0,
            fresh: 0,
            closed_until: now,
            closings: 0,
            in_vain: 0,
            last_accepted: None,
        }
    }

    /// Admits a call of about this many tokens, or returns the reason to wait.
    pub(super) fn admit(&mut self, tokens: u64, now: Instant) -> Result<Ticket, Wait> {
        let closed = self.closed_until.saturating_duration_since(now);
        if !closed.is_zero() {
            return Err(Wait::Closed(closed));
        }
        let is_full = f64::from(self.under_way) >= self.max_connections;
        if is_full || f64::from(self.streaming + self.fresh) >= self.learned.width.floor() {
            return Err(Wait::Room);
        }
        let rates = || self.requests.iter().chain(&self.tokens).chain([&self.learned.rate]);
        let wait = rates().map(|rate| rate.wait(now)).max().unwrap_or_default();
        if !wait.is_zero() {
            self.learned.hold(now + wait);
            return Err(Wait::Rate(wait));
        }
        self.learned.let_in(now);
        for rate in self.requests.iter_mut().chain([&mut self.learned.rate]) {
            rate.take(1.0, now);
        }
        if let Some(rate) = &mut self.tokens {
            rate.take(tokens as f64, now);
        }
        self.under_way += 1;
        self.fresh += 1;
        Ok(Ticket { closings: self.closings, tokens, is_accepted: false })
    }

    /// Records that the endpoint accepted the call: a reply has begun.
    pub(super) fn accept(&mut self, ticket: &mut Ticket, now: Instant) {
        ticket.is_accepted = true;
        self.streaming += 1;
        self.last_accepted = Some(now);
        self.in_vain = 0;
        if ticket.closings == self.closings {
            self.fresh -= 1;
            self.learned.accept(self.streaming, now);
        } else {
            self.learned.accept_late(self.streaming);
        }
    }

    /// Records that the endpoint refused the call or broke it off. Returns how long no call is admitted.
    ///
    /// Among calls admitted together, only the first refusal teaches something; but the longest requested wait counts.
    pub(super) fn refuse(&mut self, ticket: &Ticket, refusal: Refusal, now: Instant) -> Duration {
        let Refusal { is_overloaded, retry_after, retry_base, jitter } = refusal;
        let jitter = jitter.clamp(0.0, 1.0);
        let asked = retry_after.map(|asked| asked.saturating_add(retry_base.mul_f64(jitter)).min(LONGEST_CLOSED));
        if ticket.closings == self.closings {
            let doubled = retry_base.max(SHORTEST_BACKOFF).saturating_mul(2_u32.saturating_pow(self.in_vain));
            let backoff = doubled.min(LONGEST_BACKOFF).mul_f64(f64::midpoint(1.0, jitter));
            let wait = asked.unwrap_or(backoff);
            let others = self.streaming - u32::from(ticket.is_accepted);
            if is_overloaded {
                self.learned.overload(others, wait, now);
            } else {
                self.learned.refuse(others, wait, now);
            }
            self.closings += 1;
            self.fresh = 0;
            self.in_vain += 1;
            self.close(wait, now);
        } else if let Some(asked) = asked {
            self.close(asked, now);
        }
        self.closed_until.saturating_duration_since(now)
    }

    fn close(&mut self, wait: Duration, now: Instant) {
        self.closed_until = self.closed_until.max(now + wait);
        self.learned.hold(self.closed_until);
    }

    /// Records the total tokens that the call used.
    pub(super) fn settle(&mut self, ticket: &Ticket, used: u64, now: Instant) {
        let Some(rate) = &mut self.tokens else { return };
        if used > ticket.tokens {
            rate.take((used - ticket.tokens) as f64, now);
        } else {
            rate.give_back((ticket.tokens - used) as f64, now);
        }
    }

    /// Records the end of the call, however it ended.
    pub(super) fn release(&mut self, ticket: &Ticket) {
        self.under_way -= 1;
        if ticket.is_accepted {
            self.streaming -= 1;
        } else if ticket.closings == self.closings {
            self.fresh -= 1;
        }
    }
}
