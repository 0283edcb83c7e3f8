//! The pace at which the whole process asks one endpoint: one line for all callers, in the order in which they came.
//!
//! Rates that are set, waits that the endpoint asks for, and what its refusals teach are the [`plan`]'s; here it is waited
//! for. Whether a call is tried again is the caller's business. No lock is held while a call is made.

mod learned;
mod meter;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use self::plan::{Plan, Refusal, Ticket, Wait};
use crate::route::{RateLimits, Route};
use crate::{ErrorKind, ModelError};

/// An endpoint that wants more time than this is not waited for.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// The paces of a process, one for each endpoint.
#[derive(Debug, Default)]
pub(crate) struct Paces(Vec<(Route, Arc<Pace>)>);

/// The pace of one endpoint.
#[derive(Debug)]
pub(crate) struct Pace {
    plan: Mutex<Plan>,
    /// Held by whoever is first in line.
    line: tokio::sync::Mutex<()>,
    /// There may be room for one more.
    room: Notify,
}

/// A call that was let in; dropping it tells that the call is over.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    pace: &'a Pace,
    ticket: Ticket,
}

/// The wait for an endpoint would be too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooLong {
    /// It wants so much more time.
    Closed(Duration),
    /// The caller's deadline comes first.
    Deadline,
}

impl Paces {
    /// Routes to one endpoint share its pace; of their limits the lowest hold.
    pub(crate) fn new(routes: &[Route]) -> Self {
        let mut paces = Self::default();
        for route in routes {
            if paces.found(route).is_none() {
                let there = routes.iter().filter(|other| route.is_same_endpoint(other));
                let limits = there.map(|other| other.rate_limits).fold(RateLimits::default(), RateLimits::lowest);
                paces.0.push((route.clone(), Arc::new(Pace::new(limits))));
            }
        }
        paces
    }

    /// The pace of a route's endpoint.
    pub(crate) fn of(&self, route: &Route) -> Arc<Pace> {
        self.found(route).unwrap_or_else(|| Arc::new(Pace::new(route.rate_limits)))
    }

    fn found(&self, route: &Route) -> Option<Arc<Pace>> {
        self.0.iter().find(|(known, _)| known.is_same_endpoint(route)).map(|(_, pace)| Arc::clone(pace))
    }
}

impl Pace {
    pub(crate) fn new(limits: RateLimits) -> Self {
        let plan = Mutex::new(Plan::new(limits, Instant::now()));
        Self { plan, line: tokio::sync::Mutex::default(), room: Notify::new() }
    }

    /// Waits until a call that sends about so many tokens may be made. Dropping the future leaves the line.
    pub(crate) async fn enter(&self, tokens: u64, deadline: Option<Instant>) -> Result<Pass<'_>, TooLong> {
        let turn = self.wait_in_line(tokens, deadline);
        match deadline {
            Some(deadline) => timeout_at(deadline, turn).await.unwrap_or(Err(TooLong::Deadline)),
            None => turn.await,
        }
    }

    async fn wait_in_line(&self, tokens: u64, deadline: Option<Instant>) -> Result<Pass<'_>, TooLong> {
        let _first = self.line.lock().await;
        loop {
            let now = Instant::now();
            let admitted = self.plan().admit(tokens, now);
            let wait = match admitted {
                Ok(ticket) => return Ok(Pass { pace: self, ticket }),
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

    /// When the endpoint last took a call.
    pub(crate) fn last_taken(&self) -> Option<Instant> {
        self.plan().last_taken
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// The endpoint has taken the call: an answer begins.
    pub(crate) fn take(&mut self) {
        self.pace.plan().take(&mut self.ticket, Instant::now());
        self.pace.room.notify_one();
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.ticket.is_taken
    }

    /// The endpoint has refused the call with this error, or broken it off. Says how long nobody will ask it.
    pub(crate) fn refuse(&self, error: &ModelError, retry_base: Duration, jitter: f64) -> Duration {
        let is_overloaded = error.kind == ErrorKind::Overloaded;
        let refusal = Refusal { is_overloaded, retry_after: error.retry_after, retry_base, jitter };
        self.pace.plan().refuse(&self.ticket, refusal, Instant::now())
    }

    /// The call has used so many tokens in all.
    pub(crate) fn settle(&self, used: u64) {
        self.pace.plan().settle(&self.ticket, used, Instant::now());
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.pace.plan().leave(&self.ticket);
        // Only the first in line waits for it; if nobody does, the next one looks before it waits.
        self.pace.room.notify_one();
    }
}
