//! What becomes of a call that was under way when its task stopped: it is answered from the log, made again, attached to
//! the child that answers it, or told as unknown. Nothing is done twice that could do harm twice.

use sortie_journal::JournalError;
use sortie_protocol::{CallOutput, Fault, StopReason, ToolCall, ToolOutput};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::end::Tally;
use crate::gate::{Gate, Passage};
use crate::replay::{OpenTurn, Started};
use crate::sink::Sink;

impl Gate {
    /// Answers all calls of a turn that was broken off. Exactly one output for each comes back, in call order.
    pub(crate) async fn settle_all(
        &self,
        open: &OpenTurn,
        tally: &mut Tally,
        sink: &Sink,
        cancel: &CancellationToken,
    ) -> Result<Vec<CallOutput>, JournalError> {
        let calls: Vec<&ToolCall> = open.reply.calls().collect();
        let stop = cancel.child_token();
        let passages = calls.iter().enumerate().map(|(index, call)| self.settle(open, (index, call), sink, &stop));
        self.all(&calls, passages, tally, (cancel, &stop)).await
    }

    async fn settle(
        &self,
        open: &OpenTurn,
        (index, call): (usize, &ToolCall),
        sink: &Sink,
        stop: &CancellationToken,
    ) -> Result<Passage, JournalError> {
        if let Some(output) = open.outputs.get(&call.id) {
            // Counted when it was read back.
            return Ok(Passage { output: output.clone(), ran: false });
        }
        let tool = self.tool(call);
        match (open.started.get(&call.id), tool) {
            (Some(Started { child: Some(_), .. }), Some(tool)) => {
                // It was cleared when the child was started; the child's own grant is made anew.
                let output = self.run(call, tool.as_ref(), &self.workspace, (sink, stop)).await;
                self.record(call, output, (Instant::now(), true), sink).await
            }
            (Some(started), Some(tool)) if !started.idempotent && !tool.delegates() => {
                self.record(call, unknown(call), (Instant::now(), true), sink).await
            }
            _ => {
                let refusal = self.refusal(call, index, StopReason::Calls, stop);
                self.pass(call, refusal, sink, stop).await
            }
        }
    }
}

/// The output of a call of which nobody knows how it went.
fn unknown(call: &ToolCall) -> ToolOutput {
    ToolOutput::failure(format!(
        "unknown: the program was stopped while this {} call ran. Whether it had its effect, all of it or a part, is not \
         known, and it was not made again. Look at the state of things before you go on.",
        call.tool
    ))
    .because(Fault::Internal)
}
