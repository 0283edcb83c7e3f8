//! Where a task stands, folded from its log: what it has done, what it did last, and what it waits for.

use sortie_protocol::{CallId, Event, Fact, TaskId, TaskOutcome, Usage};

use crate::render::{neutral, words};

/// What is shown of a text.
const MAX_CHARS: usize = 200;

/// Of the newest leg; what was used is of all of them.
#[derive(Debug, Default)]
pub(super) struct Stand {
    /// When it began or went on, in milliseconds since 1970.
    pub(super) since_ms: u64,
    pub(super) is_admitted: bool,
    /// What it did last, in a few words.
    pub(super) last: Option<String>,
    pub(super) waits_for: Vec<TaskId>,
    pub(super) question: Option<Question>,
    pub(super) outcome: Option<Box<TaskOutcome>>,
    used: Usage,
}

/// What it waits with for a person or its parent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Question {
    Open { call: CallId, text: String },
    Approval { call: CallId, rule: String },
}

impl Stand {
    pub(super) fn see(&mut self, event: Event) {
        match event.fact {
            Fact::TaskStarted { .. } | Fact::TaskResumed { .. } => {
                *self = Self { since_ms: event.time.0, used: self.used, ..Self::default() };
            }
            Fact::TaskAdmitted => self.is_admitted = true,
            Fact::ModelCalled { .. } => self.waits_for.clear(),
            Fact::ModelReplied { reply, .. } => {
                self.used += Usage { turns: 1, tool_calls: 0, ..reply.usage };
                if !reply.text().trim().is_empty() {
                    self.last = Some(short(&reply.text()));
                }
            }
            Fact::ModelRetried { usage, error, .. } => {
                self.used += Usage { turns: 0, tool_calls: 0, ..usage };
                self.last = Some(format!("asks the model again: {}", words::fault(&error)));
            }
            Fact::Assisted { usage, .. } => self.used += Usage { turns: 0, tool_calls: 0, ..usage },
            Fact::CallStarted { call, .. } => {
                self.used.tool_calls += 1;
                self.last = Some(words::call(&call));
            }
            Fact::CallFinished { output, .. } => self.close(&output.call),
            Fact::ApprovalAsked { call, rule } => self.question = Some(Question::Approval { call, rule: short(&rule) }),
            Fact::ApprovalAnswered { call, .. } => self.close(&call),
            Fact::QuestionAsked { call, text, .. } => self.question = Some(Question::Open { call, text: short(&text) }),
            Fact::TaskParked { waits_for } => self.waits_for = waits_for,
            Fact::TaskEnded { outcome } => {
                (self.outcome, self.question) = (Some(outcome), None);
                self.waits_for.clear();
            }
            Fact::LimitReached { .. }
            | Fact::ProcessStarted { .. }
            | Fact::CallProgressed { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildReleased { .. }
            | Fact::ChildAdopted { .. }
            | Fact::ChildEnded { .. }
            | Fact::MessageArrived { .. }
            | Fact::MailRead { .. }
            | Fact::NotePosted { .. }
            | Fact::Noticed { .. }
            | Fact::Unknown => {}
        }
    }

    /// What it has used itself; once it has ended, with all below it.
    pub(super) fn usage(&self) -> Usage {
        self.outcome.as_ref().map_or(self.used, |outcome| outcome.usage)
    }

    /// A call that is answered asks nothing any more.
    fn close(&mut self, answered: &CallId) {
        let of_call = |question: &mut Question| match question {
            Question::Open { call, .. } | Question::Approval { call, .. } => call == answered,
        };
        self.question.take_if(of_call);
    }
}

fn short(text: &str) -> String {
    let line = neutral::line(text.get(..text.floor_char_boundary(4 * MAX_CHARS)).unwrap_or(text));
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
