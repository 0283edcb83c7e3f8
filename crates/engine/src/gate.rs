//! The one path to a tool: known → offered → cleared → recorded → run → redacted → recorded. Nothing else in Sortie
//! calls a tool.

pub(crate) mod approval_timeout;
pub(crate) mod call_order;
pub(crate) mod call_progress;
pub(crate) mod children;
pub(crate) mod confinement;
pub(crate) mod output_text;
pub(crate) mod permission_check;
pub(crate) mod settle_calls;
pub(crate) mod side_model;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_policy::{Decision, Ground, Redactor, Rule, Why};
use sortie_protocol::{CallOutput, Fact, Fault, Limit, Reply, StopReason, ToolCall, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{CallContext, Order, Registry, Seen, Shells, Tool};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::deadline::Deadline;
use crate::budget::slots::Slot;
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::gate::call_order::Words;
use crate::gate::call_progress::Voice;
use crate::gate::children::Children;
use crate::gate::output_text::Wording;
use crate::gate::permission_check::Clearance;
use crate::gate::side_model::LightModel;
use crate::log::writer::Sink;
use crate::messages::report_cap::Room;
use crate::ports::redaction::without_secrets;

/// More calls than this in one reply are a model gone wrong; the rest is refused.
const MAX_CALLS_PER_TURN: usize = 256;

/// How long a stopped call may take to say whether it had its effect.
const EFFECT_GRACE: Duration = Duration::from_secs(5);

/// A command that takes so long may wait for something.
const WAITS_FROM: Duration = Duration::from_secs(1);

/// The tool whose calls are commands.
const COMMANDS: &str = "Bash";

/// What stands between one task and the tools.
pub(crate) struct Gate {
    pub(crate) tools: Arc<Registry>,
    /// The names offered to this task's model.
    pub(crate) offered: Vec<String>,
    pub(crate) clearance: Clearance,
    pub(crate) redactor: Arc<Redactor>,
    /// What this task has read.
    pub(crate) seen: Seen,
    /// The commands of this task.
    pub(crate) shells: Option<Shells>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) children: Arc<dyn Children>,
    /// Order in which calls of one turn speak to other tasks.
    pub(crate) words: Arc<Words>,
    /// Room that the conversation has for reports.
    pub(crate) report_room: Arc<Room>,
    pub(crate) assistant: LightModel,
    pub(crate) slot: Arc<Slot>,
    pub(crate) account: Arc<Account>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) wording: Wording,
}

/// Why a task does not wait any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Cancelled,
    OutOfTime,
}

impl Over {
    pub(crate) fn ending(self, text: String) -> Ending {
        match self {
            Self::Cancelled => Ending::Cancelled { text },
            Self::OutOfTime => Ending::limited(Limit::Deadline, text),
        }
    }
}

/// A call that is through the gate, and recorded.
#[derive(Default)]
pub(crate) struct Passage {
    /// Files that it changed; `None` if it did not run now.
    pub(crate) changed: Option<Vec<String>>,
}

impl Gate {
    /// Runs all calls of a reply at the same time, but for words to others. Exactly one output for each is recorded.
    pub(crate) async fn run_all(
        &self,
        reply: &Reply,
        sink: &Sink,
        cancel: &CancellationToken,
    ) -> Result<(), JournalError> {
        let calls: Vec<&ToolCall> = reply.calls().collect();
        let stop = cancel.child_token();
        let passages = calls.iter().enumerate().map(|(index, call)| {
            let refusal = self.refusal(call, index, reply.stop, &stop);
            self.pass(call, refusal, sink, &stop)
        });
        self.all(&calls, passages, (cancel, &stop)).await
    }

    /// Waits for the calls of one turn, which end when the task's time is over.
    pub(crate) async fn all(
        &self,
        calls: &[&ToolCall],
        passages: impl Iterator<Item = impl Future<Output = Result<Passage, JournalError>>>,
        (cancel, stop): (&CancellationToken, &CancellationToken),
    ) -> Result<(), JournalError> {
        let mut words = self.words.turn();
        let order = |call: &ToolCall| self.tool(call).map_or(Order::Free, |tool| tool.order(&call.arguments));
        let passages = passages.zip(calls).map(|(passage, call)| words.next(&call.id, order(call), passage));
        let passages = join_all(passages);
        let in_time = async {
            tokio::pin!(passages);
            tokio::select! {
                passages = &mut passages => passages,
                () = self.deadline.passes() => {
                    stop.cancel();
                    passages.await
                }
            }
        };
        let waits_for_children = calls.iter().any(|call| self.tool(call).is_some_and(|tool| tool.delegates()));
        let must_end = async {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.deadline.passes() => {}
            }
        };
        let passages = if waits_for_children { self.slot.lend(in_time, must_end).await } else { in_time.await };

        for passage in passages {
            if let Some(files_changed) = passage?.changed {
                self.account.book_call(&files_changed);
            }
        }
        Ok(())
    }

    /// Waits without the task's slot; says why, if it could not wait for the end of it.
    pub(crate) async fn without_slot(
        &self,
        waiting: impl Future<Output = ()>,
        cancel: &CancellationToken,
    ) -> Option<Over> {
        let over = async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Over::Cancelled,
                () = self.deadline.passes() => Over::OutOfTime,
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

    /// The task calls no further tool: what it left running ends, and what the outcome should say is said.
    pub(crate) async fn close(&self, unrecorded: &mut Unrecorded) {
        if let Some(shells) = &self.shells {
            self.account.change(&shells.close().await);
            shells.notices().into_iter().for_each(|notice| unrecorded.notice(notice));
        }
    }

    pub(crate) fn tool(&self, call: &ToolCall) -> Option<&Arc<dyn Tool>> {
        self.tools.get(&call.tool)
    }

    /// What a call that may not run is answered with; `None` if it may.
    pub(crate) fn refusal(
        &self,
        call: &ToolCall,
        index: usize,
        ended: StopReason,
        stop: &CancellationToken,
    ) -> Option<ToolOutput> {
        let tool = &call.tool;
        let refused = |text: String| Some(ToolOutput::failure(text).because(Fault::NotAllowed));
        let Some(known) = self.tool(call) else {
            let meant = self.tools.suggest(tool).filter(|name| self.offered.iter().any(|offered| offered == name));
            let hint = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            let text = format!("There is no tool `{tool}`.{hint} {}", self.possessions());
            // A tool that others have, or another spelling of one, is not granted; any other name is nobody's.
            let is_known = tool.parse::<Rule>().is_ok_and(|rule| rule.unknown_tool_in_any_case().is_none());
            let fault = if is_known { Fault::NotAllowed } else { Fault::NoSuchTool };
            return Some(ToolOutput::failure(text).because(fault));
        };
        if !self.offered.contains(tool) {
            return refused(format!("{tool} {}. {}", self.not_offered(call, known.as_ref(), stop), self.possessions()));
        }
        if index >= MAX_CALLS_PER_TURN {
            return refused(format!("{tool} was not run: at most {MAX_CALLS_PER_TURN} calls can be made in one turn."));
        }
        // A reply that ran into its output limit may end in half an argument, which must never be executed.
        let whole = || serde_json::from_str::<&serde_json::value::RawValue>(&call.arguments).is_ok();
        if ended == StopReason::Length && !whole() {
            let text =
                format!("{tool} was not run: its arguments were cut off by your output limit. Call it again, shorter.");
            return Some(ToolOutput::failure(text).because(Fault::Arguments));
        }
        None
    }

    /// Why a tool that exists is not this task's. The call is judged by what it would touch, so that a rule which would
    /// allow just that can be named.
    fn not_offered(&self, call: &ToolCall, tool: &dyn Tool, stop: &CancellationToken) -> String {
        let resource = tool.resource(&call.arguments, self.context(call, &self.workspace, stop));
        match self.clearance.judge.decide(&call.tool, &resource) {
            // Its own tools are named beside this.
            Decision::Deny(Ground { owner, why: Why::NotAdmitted { .. }, .. }) => {
                format!("is not granted to this task (by {owner})")
            }
            Decision::Deny(ground) => format!("is not granted to this task ({ground})"),
            Decision::Allow | Decision::Ask(_) => "is not available to this task".to_owned(),
        }
    }

    /// What the task has instead.
    fn possessions(&self) -> String {
        if self.offered.is_empty() {
            return "You have no tools.".to_owned();
        }
        format!("You have: {}.", self.offered.join(", "))
    }

    pub(crate) async fn pass(
        &self,
        call: &ToolCall,
        refusal: Option<ToolOutput>,
        sink: &Sink,
        stop: &CancellationToken,
    ) -> Result<Passage, JournalError> {
        let started = Instant::now();
        let (output, ran) = match (refusal, self.tool(call)) {
            (None, Some(tool)) => match self.clear(call, tool.as_ref(), (sink, stop)).await? {
                Ok(workspace) => {
                    point("call.before-start");
                    self.announce(call, tool.as_ref(), sink).await?;
                    point("call.started");
                    let output = self.run(call, tool.as_ref(), &workspace, (sink, stop)).await;
                    point("call.ran");
                    (output, true)
                }
                Err(refusal) => (refusal, false),
            },
            (refusal, _) => (refusal.unwrap_or_else(|| ToolOutput::failure("")), false),
        };
        let output = if ran { output } else { self.in_own_form(call, output, stop) };
        self.record(call, output, (started, ran), sink).await
    }

    /// Refuses a call of a task that has no turn left to act in.
    pub(crate) async fn refuse(&self, call: &ToolCall, text: String, sink: &Sink) -> Result<(), JournalError> {
        let output = ToolOutput::failure(text).because(Fault::NotAllowed);
        let output = self.in_own_form(call, output, &CancellationToken::new());
        self.record(call, output, (Instant::now(), false), sink).await.map(drop)
    }

    /// A refusal as the tool that was called would word it.
    fn in_own_form(&self, call: &ToolCall, refusal: ToolOutput, stop: &CancellationToken) -> ToolOutput {
        let context = self.context(call, &self.workspace, stop);
        let own = self.tool(call).and_then(|tool| tool.refused(&call.arguments, context, &refusal));
        own.unwrap_or(refusal)
    }

    /// Takes secrets out of the output, words it and records it: the only place where any of this is done.
    pub(crate) async fn record(
        &self,
        call: &ToolCall,
        output: ToolOutput,
        (started, ran): (Instant, bool),
        sink: &Sink,
    ) -> Result<Passage, JournalError> {
        let output = without_secrets(output, &self.redactor);
        let output = match self.tool(call).and_then(|tool| tool.most_bytes()) {
            Some(most) => self.wording.within(call, output, most).await,
            None => output,
        };
        let output = self.wording.word(call, output, started.elapsed()).await;
        let changed = (ran && !output.did_not_run).then(|| output.files_changed.clone());
        let output = CallOutput { call: call.id.clone(), output };
        sink.append(Fact::CallFinished { output, refused: !ran }).await?;
        point("call.finished");
        Ok(Passage { changed })
    }

    /// Records that the tool is about to run; on disk first, where running it twice would do harm.
    async fn announce(&self, call: &ToolCall, tool: &dyn Tool, sink: &Sink) -> Result<(), JournalError> {
        let fact = Fact::CallStarted { call: call.clone(), idempotent: tool.idempotent() };
        // A child is found again through its own record, so starting one does no harm that a sync would prevent.
        if tool.idempotent() || tool.delegates() { sink.append(fact).await } else { sink.append_synced(fact).await }
    }

    /// Whether the call may run, and with which view of the workspace; or the answer that refuses it.
    pub(crate) async fn clear(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        (sink, stop): (&Sink, &CancellationToken),
    ) -> Result<Result<Arc<Workspace>, ToolOutput>, JournalError> {
        self.clearance.clear(call, tool, self.context(call, &self.workspace, stop), sink).await
    }

    fn context<'a>(
        &'a self,
        call: &'a ToolCall,
        workspace: &'a Arc<Workspace>,
        cancel: &'a CancellationToken,
    ) -> CallContext<'a> {
        CallContext {
            call: &call.id,
            workspace,
            cancel,
            delegation: self.children.delegation(),
            kin: self.children.relatives(),
            seen: &self.seen,
            structured: self.wording.is_structured(),
            assistant: Some(&self.assistant),
            shells: self.shells.as_ref(),
            progress: None,
        }
    }

    pub(crate) async fn run(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        workspace: &Arc<Workspace>,
        (sink, stop): (&Sink, &CancellationToken),
    ) -> ToolOutput {
        let voice = Voice { call: &call.id, sink, redactor: &self.redactor };
        let context = CallContext { progress: Some(&voice), ..self.context(call, workspace, stop) };
        let started = Instant::now();
        let running = AssertUnwindSafe(tool.run(&call.arguments, context)).catch_unwind();
        let stopped = async {
            stop.cancelled().await;
            // A delegated task ends itself when it is stopped, and how it ended is worth waiting for. So is, for a
            // while, whether the effect of a call is there.
            if tool.delegates() && !tool.idempotent() {
                std::future::pending::<()>().await;
            } else if !tool.idempotent() {
                tokio::time::sleep(EFFECT_GRACE).await;
            }
        };
        let output = tokio::select! {
            output = running => output.unwrap_or_else(|panic| panicked(&call.tool, panic.as_ref())),
            () = stopped => self.stopped(call, tool),
        };
        ToolOutput { waited: call.tool == COMMANDS && started.elapsed() >= WAITS_FROM, ..output }
    }

    /// The output of a call that had to end: its time was over, or somebody cancelled it.
    fn stopped(&self, call: &ToolCall, tool: &dyn Tool) -> ToolOutput {
        let effect = if tool.idempotent() { "" } else { "; whether it had an effect is not known" };
        let output = ToolOutput::failure(format!("{} was stopped before it was done{effect}", call.tool));
        if self.deadline.has_passed() { output.because(Fault::TimedOut) } else { output }
    }
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolOutput {
    let text = format!("{tool} broke down: {}. This is a bug in the tool; try another way.", message(panic));
    ToolOutput::failure(text).because(Fault::Internal)
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked")
}
