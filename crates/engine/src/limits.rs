//! The one place that decides whether another model call may be paid for.

use std::sync::Arc;

use sortie_protocol::{Limit, Limits};
use tokio::time::Instant;

use crate::deadline::Deadline;
use crate::end::Tally;

/// What bounds one task, besides its account.
pub(crate) struct Allowance {
    max_turns: Option<u32>,
    /// The task's own deadline or its parent's, whichever comes first.
    pub(crate) deadline: Arc<Deadline>,
}

impl Allowance {
    /// Starts the clock. A child's deadline never passes its parent's; turns of earlier legs do not count.
    pub(crate) fn start(limits: Limits, above: Arc<Deadline>, turns_before: u32) -> Self {
        let own = limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let max_turns = limits.max_turns.map(|max| max.saturating_add(turns_before));
        Self { max_turns, deadline: Deadline::new(own, Some(above)) }
    }

    /// Says which limit forbids the next call, if one does.
    pub(crate) fn check(&self, tally: &Tally) -> Result<(), Limit> {
        if self.deadline.has_passed() {
            return Err(Limit::Deadline);
        }
        if self.max_turns.is_some_and(|max| tally.turns() >= max) {
            return Err(Limit::Turns);
        }
        if tally.account.is_empty() {
            return Err(Limit::Tokens);
        }
        Ok(())
    }
}
