//! The one path to a tool: known → allowed → recorded → run → recorded. Nothing else in Sortie calls a tool.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::join_all;
use sortie_journal::JournalError;
use sortie_policy::Decision;
use sortie_protocol::{CallOutput, Fact, Grant, Reply, StopReason, ToolCall, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{CallContext, Delegation, Registry, Tool};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::end::Tally;
use crate::sink::Sink;
use crate::slot::Slot;
use crate::turn::until;

/// More calls than this in one reply are a model gone wrong; the rest is refused.
const MAX_CALLS_PER_TURN: usize = 256;

/// What stands between one task and the tools.
pub(crate) struct Gate {
    pub(crate) tools: Arc<Registry>,
    /// The names offered to this task's model.
    pub(crate) offered: Vec<String>,
    pub(crate) grant: Grant,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) delegation: Arc<dyn Delegation>,
    pub(crate) slot: Arc<Slot>,
    pub(crate) deadline: Option<Instant>,
}

/// A call's way through the gate.
struct Passage {
    output: CallOutput,
    ran: bool,
}

impl Gate {
    /// Runs all calls of a reply at the same time. Exactly one output for each comes back, in call order.
    pub(crate) async fn run_all(
        &self,
        reply: &Reply,
        tally: &mut Tally,
        sink: &Sink,
        cancel: &CancellationToken,
    ) -> Result<Vec<CallOutput>, JournalError> {
        let calls: Vec<&ToolCall> = reply.calls().collect();
        let stop = cancel.child_token();
        let passages = join_all(calls.iter().enumerate().map(|(index, call)| {
            let refusal = self.refusal(call, index, reply.stop);
            self.pass(call, refusal, sink, &stop)
        }));
        let in_time = async {
            tokio::pin!(passages);
            tokio::select! {
                passages = &mut passages => passages,
                () = until(self.deadline) => {
                    stop.cancel();
                    passages.await
                }
            }
        };
        let waits_for_children = calls.iter().any(|call| self.tool(call).is_some_and(|tool| tool.delegates()));
        let must_end = async {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = until(self.deadline) => {}
            }
        };
        let passages = if waits_for_children { self.slot.lend(in_time, must_end).await } else { in_time.await };

        let mut outputs = Vec::with_capacity(calls.len());
        for (passage, call) in passages.into_iter().zip(calls) {
            let Passage { output, ran } = passage?;
            if ran {
                tally.add_call(&call.tool, &output.output.files_changed);
            }
            outputs.push(output);
        }
        Ok(outputs)
    }

    fn tool(&self, call: &ToolCall) -> Option<&Arc<dyn Tool>> {
        self.tools.get(&call.tool)
    }

    /// Why a call may not run, in words for the model; `None` if it may.
    fn refusal(&self, call: &ToolCall, index: usize, stop: StopReason) -> Option<String> {
        let tool = &call.tool;
        if self.tool(call).is_none() {
            let meant = self.tools.suggest(tool).filter(|name| self.offered.iter().any(|offered| offered == name));
            let hint = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            return Some(format!("There is no tool `{tool}`.{hint} You have: {}.", self.offered.join(", ")));
        }
        if let Decision::Deny { owner } = sortie_policy::decide(&self.grant, tool) {
            return Some(format!(
                "{tool} is not granted to this task (by {owner}). You have: {}.",
                self.offered.join(", ")
            ));
        }
        if !self.offered.contains(tool) {
            return Some(format!("{tool} is not available to this task. You have: {}.", self.offered.join(", ")));
        }
        if index >= MAX_CALLS_PER_TURN {
            return Some(format!("{tool} was not run: at most {MAX_CALLS_PER_TURN} calls can be made in one turn."));
        }
        // A reply that ran into its output limit may end in half an argument, which must never be executed.
        let whole = || serde_json::from_str::<&serde_json::value::RawValue>(&call.arguments).is_ok();
        if stop == StopReason::Length && !whole() {
            return Some(format!(
                "{tool} was not run: its arguments were cut off by your output limit. Call it again, shorter."
            ));
        }
        None
    }

    async fn pass(
        &self,
        call: &ToolCall,
        refusal: Option<String>,
        sink: &Sink,
        stop: &CancellationToken,
    ) -> Result<Passage, JournalError> {
        let (output, ran) = match (refusal, self.tool(call)) {
            (None, Some(tool)) => {
                self.announce(call, tool.as_ref(), sink).await?;
                (self.run(call, tool.as_ref(), stop).await, true)
            }
            (refusal, _) => (ToolOutput::failure(refusal.unwrap_or_default()), false),
        };
        let output = CallOutput { call: call.id.clone(), output };
        sink.append(Fact::CallFinished { output: output.clone(), refused: !ran }).await?;
        Ok(Passage { output, ran })
    }

    /// Records that the tool is about to run; on disk first, where running it twice would do harm.
    async fn announce(&self, call: &ToolCall, tool: &dyn Tool, sink: &Sink) -> Result<(), JournalError> {
        let fact = Fact::CallStarted { call: call.clone(), idempotent: tool.idempotent() };
        // A child is found again through its own record, so starting one does no harm that a sync would prevent.
        if tool.idempotent() || tool.delegates() { sink.append(fact).await } else { sink.append_synced(fact).await }
    }

    async fn run(&self, call: &ToolCall, tool: &dyn Tool, stop: &CancellationToken) -> ToolOutput {
        let context = CallContext {
            call: &call.id,
            workspace: &self.workspace,
            cancel: stop,
            delegation: self.delegation.as_ref(),
        };
        let running = AssertUnwindSafe(tool.run(&call.arguments, context)).catch_unwind();
        let stopped = async {
            stop.cancelled().await;
            // A delegated task ends itself when it is stopped, and how it ended is worth waiting for.
            if tool.delegates() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            output = running => output.unwrap_or_else(|panic| panicked(&call.tool, panic.as_ref())),
            () = stopped => ToolOutput::failure(format!("{} was stopped before it was done", call.tool)),
        }
    }
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolOutput {
    ToolOutput::failure(format!("{tool} broke down: {}. This is a bug in the tool; try another way.", message(panic)))
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked")
}
