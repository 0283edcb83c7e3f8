//! What a task has done and used, as its log tells it. What that means for what it may still do is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sortie_protocol::{CallId, Job, Reply, TaskId, Usage};

use crate::budget::account::Footprint;
use crate::budget::usage_trust::{Believed, counted_input};
use crate::conversation::history::SHORTENED;
use crate::conversation::outcome::is_cut_answer;
use crate::conversation::request_size::Correction;

/// What the task itself has done, over all its legs.
#[derive(Default)]
pub(crate) struct Deeds {
    /// Without its descendants'.
    pub(crate) usage: Usage,
    pub(crate) turns: u32,
    /// Turns before the leg that goes on now.
    pub(crate) turns_before: u32,
    pub(crate) calls: BTreeMap<String, u64>,
    pub(crate) files_changed: BTreeSet<String>,
    /// Of the newest leg alone.
    pub(crate) notices: Vec<String>,
    pub(crate) call_ids: HashSet<CallId>,
    /// Of the newest leg alone: answers that were sent back.
    pub(crate) answers_returned: u32,
    /// In order of starting.
    pub(crate) children: Vec<TaskId>,
    /// What is held back for a call that has no answer.
    called: Usage,
    /// About how much that call made the model read.
    estimated: u64,
    pub(crate) correction: Correction,
    /// Of the newest leg alone.
    pub(crate) believed: Believed,
    /// Of the newest leg alone: an answer that the cap on one reply has cut.
    pub(crate) has_cut_answer: bool,
}

impl Deeds {
    pub(super) fn begin(job: &Job) -> Self {
        Self { notices: job.notices.clone(), correction: Correction::known_to(job), ..Self::default() }
    }

    /// What is booked for the task alone. A call that has no answer may have used all that was held back for it.
    pub(crate) fn footprint(&self) -> Footprint {
        let mut usage = self.usage;
        usage += self.called;
        Footprint { usage, files_changed: self.files_changed.clone(), started: 0 }
    }

    /// A call is made. What one before it has used that has no answer nobody will ever know: its process was killed.
    pub(super) fn call(&mut self, estimated: u64, held: Usage) {
        self.usage += std::mem::replace(&mut self.called, held);
        self.estimated = estimated;
    }

    /// It has brought a reply.
    pub(super) fn hear(&mut self, reply: &Reply) {
        self.called = Usage::default();
        self.turns += 1;
        self.usage += Usage { turns: 1, tool_calls: 0, ..reply.usage };
        self.correction.hear(self.estimated, counted_input(reply));
        self.believed.hear(reply);
        self.has_cut_answer |= is_cut_answer(reply);
        self.call_ids.extend(reply.calls().map(|call| call.id.clone()));
    }

    /// It has brought none.
    pub(super) fn lose(&mut self, usage: Usage) {
        self.called = Usage::default();
        self.pay(usage);
    }

    /// What brought no turn was paid for.
    pub(super) fn pay(&mut self, usage: Usage) {
        self.usage += Usage { turns: 0, tool_calls: 0, ..usage };
    }

    /// The conversation was shortened, by a summary that was paid for so.
    pub(super) fn shorten(&mut self, usage: Usage) {
        // Where nothing was paid, a call that has no answer is an earlier one, of a process that is gone.
        if !usage.is_nothing() {
            self.lose(usage);
        }
        self.notice(SHORTENED.to_owned());
    }

    pub(super) fn notice(&mut self, text: String) {
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }
}
