//! The one place that decides whether another model call may be paid for.

use std::sync::Arc;

use sortie_protocol::{Fact, Limit, Limits, Need};
use tokio::time::Instant;

use crate::budget::account::{Bid, Lease};
use crate::budget::deadline::Deadline;
use crate::conversation::history::History;
use crate::conversation::outcome::Tally;
use crate::log::writer::Sink;

/// What bounds one task, besides its account.
pub(crate) struct Allowance {
    max_turns: Option<u32>,
    /// Whether going round in a circle is a limit, too.
    ends_circles: bool,
    /// The task's own deadline or its parent's, whichever comes first.
    pub(crate) deadline: Arc<Deadline>,
}

impl Allowance {
    /// Starts the clock. A child's deadline never passes its parent's; turns of earlier legs do not count.
    pub(crate) fn start(limits: Limits, above: Arc<Deadline>, turns_before: u32, ends_circles: bool) -> Self {
        let own = limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let max_turns = limits.max_turns.map(|max| max.saturating_add(turns_before));
        Self { max_turns, ends_circles, deadline: Deadline::new(own, Some(above)) }
    }

    /// Holds back what the next call may use, or says which limit forbids it. While others of the tree hold what it needs,
    /// it waits for them, and says so.
    pub(crate) async fn reserve(
        &self,
        (tally, history): (&Tally, &History),
        bid: Bid,
        sink: &Sink,
    ) -> Result<Lease, Limit> {
        if self.deadline.has_passed() {
            return Err(Limit::Deadline);
        }
        if !bid.is_report && self.max_turns.is_some_and(|max| tally.turns() >= max) {
            return Err(Limit::Turns);
        }
        if !bid.is_report && self.ends_circles && history.goes_round() {
            return Err(Limit::Loop);
        }
        if let Some(reserved) = tally.account.offer(&bid) {
            return reserved;
        }
        // A journal that is lost is noticed by the next fact that matters.
        sink.append(Fact::TaskQueued { needs: Need::Tokens }).await.ok();
        tokio::select! {
            biased;
            reserved = tally.account.reserve(bid) => reserved,
            () = self.deadline.passes() => Err(Limit::Deadline),
        }
    }
}
