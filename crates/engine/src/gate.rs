//! The one path to a tool: known → offered → cleared → recorded → run → redacted → recorded. Nothing else in Sortie
//! calls a tool.

pub(crate) mod approval_timeout;
pub(crate) mod call_order;
pub(crate) mod children;
pub(crate) mod confinement;
pub(crate) mod host_call;
pub(crate) mod output_text;
pub(crate) mod permission_check;
pub(crate) mod refusal;
pub(crate) mod run_tool;
pub(crate) mod settle_calls;
pub(crate) mod side_model;

use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::join_all;
use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_policy::Redactor;
use sortie_protocol::{CallOutput, CallResult, Fact, Fault, Limit, Reply, ToolCall, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{CallContext, DecodedCall, Order, Registry, Seen, Shells, Tool};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::deadline::Deadline;
use crate::budget::lender::TaskLender;
use crate::budget::slots::Slot;
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::gate::call_order::{CallOrder, OrderedCall};
use crate::gate::children::Children;
use crate::gate::output_text::OutputText;
use crate::gate::permission_check::PermissionCheck;
use crate::gate::refusal::refusal;
use crate::gate::run_tool::call_progress::CallProgress;
use crate::gate::run_tool::{PermittedCall, run_tool};
use crate::gate::side_model::SideModel;
use crate::log::writer::FactWriter;
use crate::messages::report_cap::ReportRoom;
use crate::ports::redaction::without_secrets;

/// The gate between one task and its tools.
pub(crate) struct Gate {
    pub(crate) tools: Arc<Registry>,
    /// Tool names offered to this task's model.
    pub(crate) offered: Vec<String>,
    pub(crate) permission_check: PermissionCheck,
    pub(crate) redactor: Arc<Redactor>,
    /// Files that this task has read.
    pub(crate) seen: Seen,
    /// Commands of this task.
    pub(crate) shells: Option<Shells>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) children: Arc<dyn Children>,
    /// Order of calls in one turn that speak to other tasks or delegate.
    pub(crate) words: Arc<CallOrder>,
    /// Room for reports in the conversation.
    pub(crate) report_room: Arc<ReportRoom>,
    pub(crate) assistant: SideModel,
    pub(crate) lender: TaskLender,
    pub(crate) slot: Arc<Slot>,
    pub(crate) account: Arc<Account>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) output_text: OutputText,
    pub(crate) sink: FactWriter,
}

/// The reason why a task stops waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    Cancelled,
    OutOfTime,
}

impl Interruption {
    pub(crate) fn ending(self, text: String) -> Ending {
        match self {
            Self::Cancelled => Ending::Cancelled { text },
            Self::OutOfTime => Ending::limited(Limit::Deadline, text),
        }
    }
}

/// A call on its way through the gate.
pub(crate) struct PendingCall<'a> {
    call: &'a ToolCall,
    /// Position in the reply.
    index: usize,
    decoded: DecodedCall,
}

impl<'a> PendingCall<'a> {
    /// Returns all calls of a reply, in order.
    fn all(reply: &'a Reply) -> Vec<Self> {
        let pending = |(index, call)| Self { call, index, decoded: DecodedCall::default() };
        reply.calls().enumerate().map(pending).collect()
    }
}

impl Deref for PendingCall<'_> {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        self.call
    }
}

/// Outcome of the gate for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Execution {
    Ran,
    Refused,
}

/// Two stop signals: one ends the task, the other only the calls of this turn.
struct TurnStop<'a> {
    task: &'a CancellationToken,
    calls: CancellationToken,
}

impl<'a> TurnStop<'a> {
    fn below(task: &'a CancellationToken) -> Self {
        Self { task, calls: task.child_token() }
    }
}

/// A call that has passed the gate and is recorded.
#[derive(Default)]
pub(crate) struct PassedCall {
    /// Set if it ran now.
    pub(crate) ran: Option<RanCall>,
}

/// Effects of a call that ran.
pub(crate) struct RanCall {
    result: CallResult,
    files_changed: Vec<String>,
}

impl Gate {
    /// Runs all calls of a reply at the same time, except that messages to other tasks and admissions of sub-agents
    /// keep their order. Records exactly one output for each.
    pub(crate) async fn run_all(&self, reply: &Reply, cancel: &CancellationToken) -> Result<(), JournalError> {
        let (calls, stop) = (PendingCall::all(reply), TurnStop::below(cancel));
        let passages = calls.iter().map(|call| {
            let refusal = refusal(self, call, reply.stop, &stop.calls);
            self.pass(call, refusal, &stop.calls)
        });
        self.all(&calls, passages, &stop).await
    }

    /// Waits for the calls of one turn, and stops them at the deadline.
    async fn all(
        &self,
        calls: &[PendingCall<'_>],
        passages: impl Iterator<Item = impl Future<Output = Result<PassedCall, JournalError>>>,
        stop: &TurnStop<'_>,
    ) -> Result<(), JournalError> {
        let mut words = self.words.turn();
        let passages = passages.zip(calls).map(|(passage, call)| words.next(self.ordered(call), passage));
        let passages = join_all(passages);
        let in_time = async {
            tokio::pin!(passages);
            tokio::select! {
                passages = &mut passages => passages,
                () = self.deadline.passes() => {
                    stop.calls.cancel();
                    passages.await
                }
            }
        };
        let waits =
            |call: &PendingCall<'_>| self.tool(call).is_some_and(|tool| tool.waits(&call.arguments, &call.decoded));
        let waits_for_children = calls.iter().any(waits);
        let must_end = async {
            tokio::select! {
                () = stop.task.cancelled() => {}
                () = self.deadline.passes() => {}
            }
        };
        let passages = if waits_for_children { self.slot.lend(in_time, must_end).await } else { in_time.await };

        for passage in passages {
            if let Some(RanCall { result, files_changed }) = passage?.ran {
                self.account.book_call(result, &files_changed);
            }
        }
        Ok(())
    }

    fn ordered<'a>(&self, call: &'a PendingCall<'_>) -> OrderedCall<'a> {
        let tool = self.tool(call);
        OrderedCall {
            id: &call.id,
            order: tool.map_or(Order::Free, |tool| tool.order(&call.arguments, &call.decoded)),
            delegates: tool.is_some_and(|tool| tool.starts_children()),
        }
    }

    /// Waits without the task's slot. Returns the reason if the wait was interrupted.
    pub(crate) async fn without_slot(
        &self,
        waiting: impl Future<Output = ()>,
        cancel: &CancellationToken,
    ) -> Option<Interruption> {
        let over = async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Interruption::Cancelled,
                () = self.deadline.passes() => Interruption::OutOfTime,
            }
        };
        let in_time = async {
            tokio::select! {
                biased;
                over = over => Some(over),
                () = waiting => None,
            }
        };
        let must_end = async {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.deadline.passes() => {}
            }
        };
        self.slot.lend(in_time, must_end).await
    }

    /// Ends commands that the task has left running, and adds notices about them to the outcome.
    pub(crate) async fn close(&self, unrecorded: &mut Unrecorded) {
        if let Some(shells) = &self.shells {
            self.account.change(&shells.close().await);
            shells.notices().into_iter().for_each(|notice| unrecorded.notice(notice));
        }
    }

    pub(crate) fn tool(&self, call: &ToolCall) -> Option<&Arc<dyn Tool>> {
        self.tools.get(&call.tool)
    }

    pub(crate) async fn pass(
        &self,
        call: &PendingCall<'_>,
        refusal: Option<ToolOutput>,
        stop: &CancellationToken,
    ) -> Result<PassedCall, JournalError> {
        let started = Instant::now();
        let (output, execution) = match (refusal, self.tool(call)) {
            (None, Some(tool)) => match self.clear(call, tool.as_ref(), stop).await? {
                Ok(workspace) => {
                    point("call.before-start");
                    self.announce(call, tool.as_ref()).await?;
                    point("call.started");
                    let output = self.run(call, tool.as_ref(), &workspace, stop).await;
                    point("call.ran");
                    (output, Execution::Ran)
                }
                Err(refusal) => (refusal, Execution::Refused),
            },
            (refusal, _) => (refusal.unwrap_or_else(|| ToolOutput::failure("")), Execution::Refused),
        };
        let output = match execution {
            Execution::Ran => output,
            Execution::Refused => self.in_own_form(call, output, stop),
        };
        self.record(call, output, started, execution).await
    }

    /// Refuses a call of a task that has no turn left.
    pub(crate) async fn refuse(&self, call: &ToolCall, text: String) -> Result<(), JournalError> {
        let call = &PendingCall { call, index: 0, decoded: DecodedCall::default() };
        let output = ToolOutput::failure(text).because(Fault::NotAllowed);
        let output = self.in_own_form(call, output, &CancellationToken::new());
        self.record(call, output, Instant::now(), Execution::Refused).await.map(drop)
    }

    /// Lets the tool word a refusal in its own format.
    fn in_own_form(&self, call: &PendingCall<'_>, refusal: ToolOutput, stop: &CancellationToken) -> ToolOutput {
        let context = self.context(call, &self.workspace, stop);
        let own = self.tool(call).and_then(|tool| tool.refused(&call.arguments, context, &refusal));
        own.unwrap_or(refusal)
    }

    /// Redacts, words and records an output: the only place that does so.
    async fn record(
        &self,
        call: &ToolCall,
        output: ToolOutput,
        started: Instant,
        execution: Execution,
    ) -> Result<PassedCall, JournalError> {
        let output = without_secrets(output, &self.redactor);
        let output = match self.tool(call).and_then(|tool| tool.most_bytes()) {
            Some(most) => self.output_text.within(call, output, most).await,
            None => output,
        };
        let output = self.output_text.word(call, output, started.elapsed()).await;
        let ran = (execution == Execution::Ran && !output.did_not_run)
            .then(|| RanCall { result: output.result(), files_changed: output.files_changed.clone() });
        let output = CallOutput { call: call.id.clone(), output };
        self.sink.append(Fact::CallFinished { output, refused: execution == Execution::Refused }).await?;
        point("call.finished");
        Ok(PassedCall { ran })
    }

    /// Records that the tool is about to run; synced to disk if running it twice could do harm.
    async fn announce(&self, call: &ToolCall, tool: &dyn Tool) -> Result<(), JournalError> {
        let fact = Fact::CallStarted { call: call.clone(), idempotent: tool.idempotent() };
        // A child is found again through its own record, so its start needs no sync.
        if tool.idempotent() || tool.delegates() {
            self.sink.append(fact).await
        } else {
            self.sink.append_synced(fact).await
        }
    }

    /// Checks permission. Returns the view of the workspace for the call, or the output that refuses it.
    async fn clear(
        &self,
        call: &PendingCall<'_>,
        tool: &dyn Tool,
        stop: &CancellationToken,
    ) -> Result<Result<Arc<Workspace>, ToolOutput>, JournalError> {
        self.permission_check.clear(call, tool, self.context(call, &self.workspace, stop), &self.sink).await
    }

    fn context<'a>(
        &'a self,
        call: &'a PendingCall<'_>,
        workspace: &'a Arc<Workspace>,
        cancel: &'a CancellationToken,
    ) -> CallContext<'a> {
        CallContext {
            call: &call.id,
            decoded: &call.decoded,
            workspace,
            cancel,
            delegation: self.children.delegation(),
            kin: self.children.relatives(),
            seen: &self.seen,
            structured: self.output_text.is_structured(),
            assistant: Some(&self.assistant),
            lender: Some(&self.lender),
            shells: self.shells.as_ref(),
            progress: None,
        }
    }

    async fn run(
        &self,
        call: &PendingCall<'_>,
        tool: &dyn Tool,
        workspace: &Arc<Workspace>,
        stop: &CancellationToken,
    ) -> ToolOutput {
        let progress = CallProgress { call: &call.id, sink: &self.sink, redactor: &self.redactor };
        let context = CallContext { progress: Some(&progress), ..self.context(call, workspace, stop) };
        let permitted = PermittedCall { tool, name: &call.tool, arguments: &call.arguments };
        run_tool(permitted, context, Some(&self.deadline)).await
    }
}
