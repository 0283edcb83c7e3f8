//! The totals of a task from its log: its usage and actions. Other modules decide what they allow.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sortie_protocol::{
    CallId, CallOutput, Fact, FailedCalls, Job, Message, Reply, StopReason, TaskId, ToolCall, ToolCount, Usage,
};

use crate::budget::account::Footprint;
use crate::budget::usage_trust::{UsageTrust, counted_input};
use crate::conversation::history::SHORTENED;
use crate::conversation::request_size::Correction;
use crate::conversation::task_record::OpenTurn;

/// Usage and actions of the task itself, over all its legs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Totals {
    /// Usage without the descendants'.
    pub(crate) usage: Usage,
    pub(crate) turns: u32,
    /// Turns before the newest leg.
    pub(crate) turns_before: u32,
    /// Calls that ran, by tool.
    calls: BTreeMap<String, ToolUse>,
    pub(crate) failed: Vec<FailedCalls>,
    pub(crate) refused: Vec<FailedCalls>,
    pub(crate) files_changed: BTreeSet<String>,
    /// Newest leg only.
    pub(crate) notices: Vec<String>,
    pub(crate) call_ids: HashSet<CallId>,
    /// Answers sent back in the newest leg.
    pub(crate) answers_returned: u32,
    /// Children in start order.
    pub(crate) children: Vec<TaskId>,
    /// Children of failed tasks, adopted by this one.
    adopted: HashSet<TaskId>,
    /// Reservation of a model call without an answer.
    called: Usage,
    /// Estimated input of that call.
    estimated: u64,
    pub(crate) correction: Correction,
    /// Newest leg only.
    pub(crate) usage_trust: UsageTrust,
    /// True if the cap on a reply has cut an answer in the newest leg.
    pub(crate) has_cut_answer: bool,
}

/// Calls of one tool.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ToolUse {
    count: u64,
    first: CallPlace,
}

/// Place of a call in the conversation. Calls of one reply may finish in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CallPlace {
    turn: u32,
    in_reply: usize,
}

impl Totals {
    pub(super) fn begin(job: &Job, inherited: &[Message]) -> Self {
        let outputs = inherited.iter().flat_map(|message| match message {
            Message::Outputs { outputs } => outputs.as_slice(),
            Message::User { .. } | Message::Assistant { .. } => &[],
        });
        Self {
            notices: job.notices.clone(),
            correction: Correction::known_to(job),
            call_ids: outputs.map(|output| output.call.clone()).collect(),
            ..Self::default()
        }
    }

    /// Applies a fact; `open` is the open turn.
    pub(super) fn apply(&mut self, fact: &Fact, open: Option<&OpenTurn>) {
        match fact {
            Fact::ModelCalled { input_tokens, reserved, .. } => self.call(*input_tokens, *reserved),
            Fact::ModelReplied { reply, .. } => self.hear(reply),
            Fact::ModelLost { usage, .. } => self.lose(*usage),
            Fact::ModelRetried { usage, .. } | Fact::Assisted { usage, .. } => self.pay(*usage),
            Fact::Compacted { usage, .. } => self.shorten(*usage),
            Fact::AnswerReturned { .. } => self.answers_returned += 1,
            Fact::Noticed { text } => self.notice(text.clone()),
            Fact::CallFinished { output, refused: false } if !output.output.did_not_run => self.count(output, open),
            Fact::CallFinished { output, .. } => self.refuse(output, open),
            Fact::ChildStarted { child, .. } => self.have(*child),
            // It stays a child of the task that started it, where its usage is counted.
            Fact::ChildAdopted { child, .. } => drop(self.adopted.insert(*child)),
            // Commands that ended with the leg may have changed files that no call reports.
            Fact::TaskEnded { outcome } => self.files_changed.extend(outcome.files_changed.iter().cloned()),
            _ => {}
        }
    }

    /// Returns the footprint of the task alone. A call without an answer may have used its whole reservation.
    pub(crate) fn footprint(&self) -> Footprint {
        let mut usage = self.usage;
        usage += self.called;
        Footprint { usage, files_changed: self.files_changed.clone(), started: 0 }
    }

    /// Returns the calls that ran, by tool, in order of first use.
    pub(crate) fn tool_summary(&self) -> Vec<ToolCount> {
        let mut uses: Vec<_> = self.calls.iter().collect();
        uses.sort_by_key(|(_, used)| used.first);
        uses.into_iter().map(|(tool, used)| ToolCount { tool: tool.clone(), count: used.count }).collect()
    }

    /// Adds a notice, unless it is there already.
    pub(super) fn notice(&mut self, text: String) {
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    /// Forgets the previous leg's share.
    pub(super) fn begin_leg(&mut self) {
        self.turns_before = self.turns;
        self.notices.clear();
        (self.answers_returned, self.usage_trust, self.has_cut_answer) = (0, UsageTrust::default(), false);
    }

    /// Records a model call. An unanswered earlier call was killed with its process, so its usage stays unknown and is
    /// counted in full.
    fn call(&mut self, estimated: u64, held: Usage) {
        self.usage += std::mem::replace(&mut self.called, held);
        self.estimated = estimated;
    }

    /// Records the reply.
    fn hear(&mut self, reply: &Reply) {
        self.called = Usage::default();
        self.turns += 1;
        self.usage += Usage { turns: 1, tool_calls: 0, ..reply.usage };
        self.correction.hear(self.estimated, counted_input(reply));
        self.usage_trust.hear(reply);
        self.has_cut_answer |= is_cut_answer(reply);
        self.call_ids.extend(reply.calls().map(|call| call.id.clone()));
    }

    /// Records a call without a reply.
    fn lose(&mut self, usage: Usage) {
        self.called = Usage::default();
        self.pay(usage);
    }

    /// Books usage that brought no turn.
    fn pay(&mut self, usage: Usage) {
        self.usage += Usage { turns: 0, tool_calls: 0, ..usage };
    }

    /// Records a compaction, with the cost of its summary.
    fn shorten(&mut self, usage: Usage) {
        // A compaction without cost made no call, so an open call belongs to an earlier process.
        if !usage.is_nothing() {
            self.lose(usage);
        }
        self.notice(SHORTENED.to_owned());
    }

    /// Counts a call of the open turn that ran.
    fn count(&mut self, output: &CallOutput, open: Option<&OpenTurn>) {
        let calls = open.into_iter().flat_map(|open| open.reply.calls());
        let Some((in_reply, call)) = calls.enumerate().find(|(_, call)| call.id == output.call) else { return };
        self.usage += Usage::of_call(output.output.result());
        let place = CallPlace { turn: self.turns, in_reply };
        let used = self.calls.entry(call.tool.clone()).or_insert(ToolUse { count: 0, first: place });
        (used.count, used.first) = (used.count + 1, used.first.min(place));
        self.files_changed.extend(output.output.files_changed.iter().cloned());
        if output.output.failed {
            add(&mut self.failed, call, output);
        }
    }

    /// Counts a refused or malformed call of the open turn.
    fn refuse(&mut self, output: &CallOutput, open: Option<&OpenTurn>) {
        if let Some(call) = open.and_then(|open| open.call(&output.call)) {
            add(&mut self.refused, call, output);
        }
    }

    fn have(&mut self, child: TaskId) {
        // A child with a follow-up is already here; an adopted one stays with the task that started it.
        if !self.children.contains(&child) && !self.adopted.contains(&child) {
            self.children.push(child);
        }
    }
}

/// Adds a call without success to those of its tool.
fn add(calls: &mut Vec<FailedCalls>, ToolCall { tool, .. }: &ToolCall, output: &CallOutput) {
    if let Some(known) = calls.iter_mut().find(|known| known.tool == *tool) {
        known.count += 1;
        return;
    }
    let said = output.output.for_people.as_str();
    let reason = said.strip_prefix(&format!("{tool} was not run: ")).unwrap_or(said).to_owned();
    calls.push(FailedCalls { tool: tool.clone(), count: 1, reason });
}

/// Returns true for a final answer that was cut by the reply cap.
pub(crate) fn is_cut_answer(reply: &Reply) -> bool {
    reply.stop == StopReason::Length && reply.calls().next().is_none()
}
