//! Rate limits of an endpoint, enforced for the whole process: one queue for all callers, first come, first served.
//!
//! [`admission`] decides, from the configured rates, the waits that the endpoint asks for, and what its refusals teach.
//! This file does the waiting. The caller decides about retries. No lock is held during a call.

mod admission;
mod learned_limits;
mod steady_rate;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use self::admission::{Admission, Refusal, Ticket, Wait};
use crate::route::{RateLimits, Route};
use crate::{ErrorKind, ModelError};

/// Longest wait for an endpoint; if it asks for more, the call fails.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// The rate limiters of a process, one for each endpoint.
#[derive(Debug, Default)]
pub(crate) struct RateLimiters(Vec<(Route, Arc<RateLimiter>)>);

/// Rate limiter of one endpoint.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    admission: Mutex<Admission>,
    /// Held by the first caller in line.
    line: tokio::sync::Mutex<()>,
    /// Signals that there may be room for another call.
    room: Notify,
}

/// Permission for one call; dropping it ends the call.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    limiter: &'a RateLimiter,
    ticket: Ticket,
}

/// The wait for an endpoint would be too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooLong {
    /// The endpoint asks for this much more time.
    Closed(Duration),
    /// The caller's deadline comes first.
    Deadline,
}

impl RateLimiters {
    /// Builds one rate limiter for each endpoint. Routes to the same endpoint share it, under the lowest of their
    /// limits.
    pub(crate) fn new(routes: &[Route]) -> Self {
        let mut limiters = Self::default();
        for route in routes {
            if limiters.found(route).is_none() {
                let there = routes.iter().filter(|other| route.is_same_endpoint(other));
                let limits = there.map(|other| other.rate_limits).fold(RateLimits::default(), RateLimits::lowest);
                limiters.0.push((route.clone(), Arc::new(RateLimiter::new(limits))));
            }
        }
        limiters
    }

    /// Returns the rate limiter of a route's endpoint.
    pub(crate) fn of(&self, route: &Route) -> Arc<RateLimiter> {
        self.found(route).unwrap_or_else(|| Arc::new(RateLimiter::new(route.rate_limits)))
    }

    fn found(&self, route: &Route) -> Option<Arc<RateLimiter>> {
        self.0.iter().find(|(known, _)| known.is_same_endpoint(route)).map(|(_, limiter)| Arc::clone(limiter))
    }
}

impl RateLimiter {
    pub(crate) fn new(limits: RateLimits) -> Self {
        let admission = Mutex::new(Admission::new(limits, Instant::now()));
        Self { admission, line: tokio::sync::Mutex::default(), room: Notify::new() }
    }

    /// Waits until a call of about this many tokens may be made. Dropping the future leaves the queue.
    pub(crate) async fn acquire(&self, tokens: u64, deadline: Option<Instant>) -> Result<Permit<'_>, TooLong> {
        let turn = self.wait_in_line(tokens, deadline);
        match deadline {
            Some(deadline) => timeout_at(deadline, turn).await.unwrap_or(Err(TooLong::Deadline)),
            None => turn.await,
        }
    }

    async fn wait_in_line(&self, tokens: u64, deadline: Option<Instant>) -> Result<Permit<'_>, TooLong> {
        let _first = self.line.lock().await;
        loop {
            let now = Instant::now();
            let admitted = self.admission().admit(tokens, now);
            let wait = match admitted {
                Ok(ticket) => return Ok(Permit { limiter: self, ticket }),
                Err(Wait::Closed(wait)) if wait > LONGEST_WAIT => return Err(TooLong::Closed(wait)),
                Err(Wait::Closed(wait) | Wait::Rate(wait)) => wait,
                Err(Wait::Room) => {
                    self.room.notified().await;
                    continue;
                }
            };
            if deadline.is_some_and(|deadline| now + wait >= deadline) {
                return Err(TooLong::Deadline);
            }
            sleep(wait).await;
        }
    }

    /// Time when the endpoint last accepted a call.
    pub(crate) fn last_accepted(&self) -> Option<Instant> {
        self.admission().last_accepted
    }

    fn admission(&self) -> MutexGuard<'_, Admission> {
        self.admission.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// Records that the endpoint accepted the call: a reply has begun.
    pub(crate) fn accept(&mut self) {
        self.limiter.admission().accept(&mut self.ticket, Instant::now());
        self.limiter.room.notify_one();
    }

    pub(crate) fn is_accepted(&self) -> bool {
        self.ticket.is_accepted
    }

    /// Records that the endpoint refused the call or broke it off. Returns how long the endpoint now stays closed to
    /// everyone.
    pub(crate) fn refuse(&self, error: &ModelError, retry_base: Duration, jitter: f64) -> Duration {
        let is_overloaded = error.kind == ErrorKind::Overloaded;
        let refusal = Refusal { is_overloaded, retry_after: error.retry_after, retry_base, jitter };
        self.limiter.admission().refuse(&self.ticket, refusal, Instant::now())
    }

    /// Records the total tokens that the call used.
    pub(crate) fn settle(&self, used: u64) {
        self.limiter.admission().settle(&self.ticket, used, Instant::now());
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limiter.admission().release(&self.ticket);
        // Only the first in line waits for this signal. If nobody is waiting, the next caller checks before it waits.
        self.limiter.room.notify_one();
    }
}
