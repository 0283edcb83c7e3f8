//! Settles calls that were under way when their task stopped: answered from the log, repeated, attached to their child,
//! or reported as unknown. Nothing that could do harm is done twice.
//!
//! If the leg ends and nothing can run any more, `close_open_calls.rs` answers instead.

use sortie_journal::JournalError;
use sortie_protocol::{StopReason, ToolOutput};
use sortie_tools::{Tool, task_answer};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::conversation::task_record::{OpenTurn, Started};
use crate::conversation::unanswered_calls::unknown;
use crate::gate::refusal::refusal;
use crate::gate::{Execution, Gate, PassedCall, PendingCall, TurnStop};

impl Gate {
    /// Answers all calls of an interrupted turn, so that exactly one output is recorded for each.
    pub(crate) async fn settle_all(&self, open: &OpenTurn, cancel: &CancellationToken) -> Result<(), JournalError> {
        let (calls, stop) = (PendingCall::all(&open.reply), TurnStop::below(cancel));
        let passages = calls.iter().map(|call| self.settle(open, call, &stop.calls));
        self.all(&calls, passages, &stop).await
    }

    async fn settle(
        &self,
        open: &OpenTurn,
        call: &PendingCall<'_>,
        stop: &CancellationToken,
    ) -> Result<PassedCall, JournalError> {
        if open.outputs.contains_key(&call.id) {
            // Counted when the log was read.
            return Ok(PassedCall::default());
        }
        // A call that has started is settled, not judged again.
        let ended = if open.started.contains_key(&call.id) { StopReason::Calls } else { open.reply.stop };
        let refusal = refusal(self, call, ended, stop);
        let tool = self.tool(call);
        let delegates = tool.is_some_and(|tool| tool.delegates());
        match (open.started.get(&call.id), tool) {
            (Some(Started { child: Some(_), .. }), Some(tool)) if refusal.is_none() => {
                // Its approval was settled when the child was started; rules are checked again there.
                let output = self.run(call, tool.as_ref(), &self.workspace, stop).await;
                self.record(call, output, Instant::now(), Execution::Ran).await
            }
            (Some(Started { child: Some(_), .. }), _) => {
                let why = refusal.as_ref().map_or("its tool is gone", |refusal| refusal.for_model.as_str());
                match self.children.let_go(&call.id, why).await {
                    Some(ended) => {
                        let parts = self.children.delegation().answer_parts();
                        let output =
                            task_answer(self.output_text.contract.as_ref(), &call.arguments, &parts, Ok(ended));
                        self.record(call, output, Instant::now(), Execution::Ran).await
                    }
                    None => self.pass(call, refusal, stop).await,
                }
            }
            (Some(started), _) if !started.idempotent && !delegates => {
                let tool = tool.filter(|tool| tool.settles_itself() && refusal.is_none());
                let output = match tool {
                    Some(tool) => self.settle_by_itself(call, tool.as_ref(), stop).await?,
                    None => None,
                };
                let output = output.unwrap_or_else(|| unknown(call, started));
                self.record(call, output, Instant::now(), Execution::Ran).await
            }
            _ => self.pass(call, refusal, stop).await,
        }
    }

    /// Repeats a call that can find out its own earlier effect; `None` if it may not run any more.
    async fn settle_by_itself(
        &self,
        call: &PendingCall<'_>,
        tool: &dyn Tool,
        stop: &CancellationToken,
    ) -> Result<Option<ToolOutput>, JournalError> {
        Ok(match self.clear(call, tool, stop).await? {
            Ok(workspace) => Some(self.run(call, tool, &workspace, stop).await),
            Err(_) => None,
        })
    }
}
