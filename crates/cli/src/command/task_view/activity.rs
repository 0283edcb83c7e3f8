//! Activity of a task, folded from its log: its last step, and what it waits for.

use sortie_protocol::{CallId, Fact, Need, TaskId};

use crate::text::{neutral, words};

/// Longest excerpt of a text that is shown.
const MAX_CHARS: usize = 200;

/// Activity in the newest leg. [`Legs`](super::legs::Legs) has its outcome and usage.
#[derive(Debug, Default)]
pub(in crate::command) struct Activity {
    pub(in crate::command) is_admitted: bool,
    /// Last step, in a few words.
    pub(in crate::command) last: Option<String>,
    pub(in crate::command) waits_for: Vec<TaskId>,
    /// Resource that the task waits for and others hold.
    needs: Option<Need>,
    /// Unanswered questions, the oldest first. A person's message answers the first open one.
    pub(in crate::command) questions: Vec<Question>,
}

/// Question to a person or the parent that the task waits on.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::command) enum Question {
    Open { call: CallId, text: String },
    Approval { call: CallId, rule: String },
}

impl Activity {
    pub(in crate::command) fn see(&mut self, fact: &Fact) {
        match fact {
            Fact::TaskResumed { .. } => {
                self.is_admitted = false;
                self.needs = None;
                self.waits_for.clear();
                // An open question stays open; approvals are asked for again.
                self.questions.retain(|question| matches!(question, Question::Open { .. }));
            }
            Fact::TaskAdmitted => self.is_admitted = true,
            Fact::ModelCalled { .. } => {
                self.needs = None;
                self.waits_for.clear();
            }
            Fact::ModelReplied { reply, .. } => {
                if !reply.text().trim().is_empty() {
                    self.last = Some(short(&reply.text()));
                }
            }
            Fact::ModelRetried { error, .. } => {
                self.last = Some(format!("retries the model: {}", words::fault(error)));
            }
            Fact::Compacted { compaction, .. } => self.last = Some(compaction.to_string()),
            Fact::CallStarted { call, .. } => {
                self.needs = None;
                self.last = Some(words::call(call));
            }
            Fact::CallFinished { output, .. } => self.close(&output.call),
            Fact::ApprovalAsked { call, rule } => {
                self.questions.push(Question::Approval { call: call.clone(), rule: short(rule) });
            }
            Fact::ApprovalAnswered { call, .. } => self.close(call),
            Fact::QuestionAsked { call, text, .. } => {
                self.questions.push(Question::Open { call: call.clone(), text: short(text) });
            }
            Fact::TaskParked { waits_for } => self.waits_for.clone_from(waits_for),
            Fact::TaskQueued { needs } => self.needs = Some(*needs),
            Fact::TaskEnded { .. } => {
                self.needs = None;
                self.questions.clear();
                self.waits_for.clear();
            }
            Fact::TaskStarted { .. }
            | Fact::Assisted { .. }
            | Fact::LimitReached { .. }
            | Fact::AnswerReturned { .. }
            | Fact::ModelLost { .. }
            | Fact::ProcessStarted { .. }
            | Fact::CallProgressed { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildReleased { .. }
            | Fact::ChildAdopted { .. }
            | Fact::ChildEnded { .. }
            | Fact::OutcomeGiven { .. }
            | Fact::MessageArrived { .. }
            | Fact::MailRead { .. }
            | Fact::NotePosted { .. }
            | Fact::Reminded { .. }
            | Fact::Noticed { .. }
            | Fact::Unknown => {}
        }
    }

    /// Resource held by others that the task cannot continue without.
    pub(in crate::command) fn needs(&self) -> Option<Need> {
        if self.is_admitted { self.needs } else { Some(Need::Slot) }
    }

    /// Reason for waiting, in a few words.
    pub(in crate::command) fn awaits(&self) -> Option<String> {
        if !self.questions.is_empty() {
            return Some("an answer".to_owned());
        }
        let names: Vec<String> = self.waits_for.iter().map(ToString::to_string).collect();
        if names.is_empty() { self.needs().map(|need| need.to_string()) } else { Some(names.join(", ")) }
    }

    /// An answered call has no open questions.
    fn close(&mut self, answered: &CallId) {
        self.questions.retain(|question| match question {
            Question::Open { call, .. } | Question::Approval { call, .. } => call != answered,
        });
    }
}

/// Text on one line, cut if long.
pub(in crate::command) fn short(text: &str) -> String {
    let line = neutral::line(text.get(..text.floor_char_boundary(4 * MAX_CHARS)).unwrap_or(text));
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
