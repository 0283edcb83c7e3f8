//! The one place that decides whether another model call can be paid for, by reserving its maximum.

use std::sync::Arc;
use std::time::Duration;

use sortie_llm::{Terms, ToolChoice};
use sortie_protocol::{Fact, Limit, Limits, Need};
use tokio::time::Instant;

use crate::budget::account::{Account, Bid, Lease};
use crate::budget::deadline::Deadline;
use crate::conversation::task_record::Totals;
use crate::run::Run;
use crate::run::context_window::{USUAL_OUTPUT, fitting_cap};

/// Limits of one task.
pub(crate) struct Allowance {
    max_turns: Option<u32>,
    loops: Loops,
    account: Arc<Account>,
    /// The task's own deadline or its parent's, whichever comes first.
    pub(crate) deadline: Arc<Deadline>,
}

/// Treatment of a task that is in a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loops {
    AreALimit,
    MayContinue,
}

impl Allowance {
    /// Starts the clock. A child's deadline never passes its parent's.
    pub(crate) fn start(limits: Limits, loops: Loops, account: &Arc<Account>, above: Arc<Deadline>) -> Self {
        let own = limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let deadline = Deadline::new(own, Some(above));
        Self { max_turns: limits.max_turns, loops, account: Arc::clone(account), deadline }
    }

    /// Returns a limit that forbids a call at any price. Turns of earlier legs do not count.
    fn forbidden(&self, run: &Run<'_>, tool_choice: ToolChoice) -> Option<Limit> {
        if self.deadline.has_passed() {
            return Some(Limit::Deadline);
        }
        if tool_choice == ToolChoice::None {
            return None;
        }
        let ends_loops = self.loops == Loops::AreALimit;
        run.record.look(|record| {
            let Totals { turns, turns_before, .. } = record.totals;
            let out_of_turns = self.max_turns.is_some_and(|max| turns >= max.saturating_add(turns_before));
            let goes_round = || (ends_loops && record.history.goes_round()).then_some(Limit::Loop);
            if out_of_turns { Some(Limit::Turns) } else { goes_round() }
        })
    }
}

/// Waits for a due retry and reserves the next call's maximum, or returns the limit that forbids it. While other tasks
/// of the tree hold the tokens, it waits and says so.
pub(crate) async fn reserve_after(wait: Duration, run: &Run<'_>, tool_choice: ToolChoice) -> Result<Lease, Limit> {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    let Allowance { account, deadline, .. } = &run.services.allowance;
    if let Some(limit) = run.services.allowance.forbidden(run, tool_choice) {
        return Err(limit);
    }
    let bid = bid(run, tool_choice);
    if let Some(reserved) = account.offer(&bid) {
        return reserved;
    }
    // A lost journal shows at the next fact that matters.
    run.sink.append(Fact::TaskQueued { needs: Need::Tokens }).await.ok();
    tokio::select! {
        biased;
        reserved = account.reserve(bid) => reserved,
        () = deadline.passes() => Err(Limit::Deadline),
    }
}

/// Returns the bid for the next call.
fn bid(run: &Run<'_>, tool_choice: ToolChoice) -> Bid {
    bid_for(run.services.model_caller.terms, run.request_size().measure(&run.reading()), tool_choice)
}

/// Returns the bid for a call with this input.
pub(crate) fn bid_for(terms: Terms, input_tokens: u64, tool_choice: ToolChoice) -> Bid {
    let Terms { output_cap, max_output, prices, window } = terms;
    let usual = output_cap.or(max_output.map(|most| most.min(USUAL_OUTPUT))).unwrap_or(USUAL_OUTPUT);
    Bid {
        input_tokens,
        max_output: fitting_cap(window, input_tokens).min(usual),
        prices,
        is_report: tool_choice == ToolChoice::None,
    }
}
