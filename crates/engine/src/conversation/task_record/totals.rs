//! The totals of a task, as its log tells them: what it has used and done. What that means for what it may still do is
//! decided elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sortie_protocol::{CallId, CallOutput, Fact, Job, Reply, StopReason, TaskId, Usage};

use crate::budget::account::Footprint;
use crate::budget::usage_trust::{UsageTrust, counted_input};
use crate::conversation::history::SHORTENED;
use crate::conversation::request_size::Correction;
use crate::conversation::task_record::OpenTurn;

/// What the task itself has used and done, over all its legs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Totals {
    /// Without that of its descendants.
    pub(crate) usage: Usage,
    pub(crate) turns: u32,
    /// Turns before the newest leg.
    pub(crate) turns_before: u32,
    /// Calls that ran, by tool.
    pub(crate) calls: BTreeMap<String, u64>,
    pub(crate) files_changed: BTreeSet<String>,
    /// Of the newest leg alone.
    pub(crate) notices: Vec<String>,
    pub(crate) call_ids: HashSet<CallId>,
    /// Of the newest leg alone: answers that were sent back.
    pub(crate) answers_returned: u32,
    /// In order of starting.
    pub(crate) children: Vec<TaskId>,
    /// Children that others had started, who failed.
    adopted: HashSet<TaskId>,
    /// What is held back for a model call that has no answer.
    called: Usage,
    /// About how much that call made the model read.
    estimated: u64,
    pub(crate) correction: Correction,
    /// Of the newest leg alone.
    pub(crate) usage_trust: UsageTrust,
    /// Of the newest leg alone: an answer that the cap on one reply has cut.
    pub(crate) has_cut_answer: bool,
}

impl Totals {
    pub(super) fn begin(job: &Job) -> Self {
        Self { notices: job.notices.clone(), correction: Correction::known_to(job), ..Self::default() }
    }

    /// Takes in a fact, while this turn is open.
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
            Fact::ChildStarted { child, .. } => self.have(*child),
            // It stays among the children of the one that started it, where its usage is counted.
            Fact::ChildAdopted { child, .. } => drop(self.adopted.insert(*child)),
            // Commands that ended with the leg have changed files that no call tells of.
            Fact::TaskEnded { outcome } => self.files_changed.extend(outcome.files_changed.iter().cloned()),
            _ => {}
        }
    }

    /// What is booked for the task alone. A call that has no answer may have used all that was held back for it.
    pub(crate) fn footprint(&self) -> Footprint {
        let mut usage = self.usage;
        usage += self.called;
        Footprint { usage, files_changed: self.files_changed.clone(), started: 0 }
    }

    /// Notes what should be known, once.
    pub(super) fn notice(&mut self, text: String) {
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    /// Forgets what belongs to the leg before.
    pub(super) fn begin_leg(&mut self) {
        self.turns_before = self.turns;
        self.notices.clear();
        (self.answers_returned, self.usage_trust, self.has_cut_answer) = (0, UsageTrust::default(), false);
    }

    /// A call is made. What one before it has used that has no answer nobody will ever know: its process was killed.
    fn call(&mut self, estimated: u64, held: Usage) {
        self.usage += std::mem::replace(&mut self.called, held);
        self.estimated = estimated;
    }

    /// It has brought a reply.
    fn hear(&mut self, reply: &Reply) {
        self.called = Usage::default();
        self.turns += 1;
        self.usage += Usage { turns: 1, tool_calls: 0, ..reply.usage };
        self.correction.hear(self.estimated, counted_input(reply));
        self.usage_trust.hear(reply);
        self.has_cut_answer |= is_cut_answer(reply);
        self.call_ids.extend(reply.calls().map(|call| call.id.clone()));
    }

    /// It has brought none.
    fn lose(&mut self, usage: Usage) {
        self.called = Usage::default();
        self.pay(usage);
    }

    /// What brought no turn was paid for.
    fn pay(&mut self, usage: Usage) {
        self.usage += Usage { turns: 0, tool_calls: 0, ..usage };
    }

    /// The conversation was shortened, by a summary that was paid for so.
    fn shorten(&mut self, usage: Usage) {
        // Where nothing was paid, a call that has no answer is an earlier one, of a process that is gone.
        if !usage.is_nothing() {
            self.lose(usage);
        }
        self.notice(SHORTENED.to_owned());
    }

    /// A call of the open turn has run.
    fn count(&mut self, output: &CallOutput, open: Option<&OpenTurn>) {
        let Some(call) = open.and_then(|open| open.call(&output.call)) else { return };
        self.usage += Usage { tool_calls: 1, ..Usage::default() };
        *self.calls.entry(call.tool.clone()).or_default() += 1;
        self.files_changed.extend(output.output.files_changed.iter().cloned());
    }

    fn have(&mut self, child: TaskId) {
        // A child with a follow-up has been here before, or stays its starter's if it was adopted.
        if !self.children.contains(&child) && !self.adopted.contains(&child) {
            self.children.push(child);
        }
    }
}

/// Whether a reply ends the turn with words that are not all.
pub(crate) fn is_cut_answer(reply: &Reply) -> bool {
    reply.stop == StopReason::Length && reply.calls().next().is_none()
}
