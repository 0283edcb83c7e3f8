//! The mail of one task as its log tells it: messages, children in the background with their reports, and questions.
//!
//! One function takes in the facts. The inbox of a running task uses it as they are written, and whoever reads a log
//! back uses it then.

use std::collections::BTreeMap;

use sortie_protocol::{CallId, Fact, Job, MailMark, ReportMark, Sender, Status, TaskId, TaskOutcome};

use crate::messages::inbox_order::{InboxPosition, TurnCalls};
use crate::messages::questions::{OpenQuestion, Questions};

/// What has come for a task and is not yet in its conversation.
#[derive(Debug, Default)]
pub(crate) struct InboxRecord {
    /// Children that work beside the task, or have done so and are not read yet, in the order of their places. One that
    /// has gone on before its report was read is here twice.
    pub(crate) background_children: Vec<BackgroundChild>,
    /// The calls of the newest turn, which start children.
    pub(crate) calls: TurnCalls,
    /// Unread messages, in the order of their numbers.
    pub(crate) messages: Vec<Message>,
    /// Messages that have come so far.
    pub(crate) n_messages: u32,
    /// The last command that came as a message.
    pub(crate) last_command: i64,
    pub(crate) questions: Questions,
    /// The newest leg of each child whose report was read.
    read_legs: BTreeMap<TaskId, u32>,
    parent: Option<TaskId>,
    /// In the newest leg.
    pub(crate) oversight: Watcher,
}

/// The one who has a part in a leg from above.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Watcher {
    #[default]
    Nobody,
    TaskAbove,
}

/// A child that works beside its parent.
#[derive(Debug, Clone)]
pub(crate) struct BackgroundChild {
    pub(crate) child: TaskId,
    pub(crate) place: InboxPosition,
    /// The leg that has ended unread, as the log says.
    pub(crate) ended_leg: Option<u32>,
    /// How it ended, if this process knows. The child's own log has it, this one does not.
    pub(crate) report: Option<Report>,
}

/// How a leg of a child ended.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) leg: u32,
    pub(crate) outcome: Box<TaskOutcome>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) number: u32,
    pub(crate) from: Sender,
    pub(crate) text: String,
}

impl BackgroundChild {
    /// Whether the child has not reported here.
    pub(crate) fn awaits(&self, child: TaskId) -> bool {
        self.child == child && self.report.is_none()
    }

    /// Whether the child is at work, as far as the log and this process know.
    fn is_at_work(&self, child: TaskId) -> bool {
        self.awaits(child) && self.ended_leg.is_none()
    }

    fn tells_of(&self, mark: ReportMark) -> bool {
        let leg = self.report.as_ref().map(|report| report.leg).or(self.ended_leg);
        self.child == mark.child && leg == Some(mark.leg)
    }
}

impl InboxRecord {
    /// The mail of a task that begins.
    pub(crate) fn begin(job: &Job) -> Self {
        Self { parent: job.parent, oversight: Watcher::of(job.parent.is_none()), ..Self::default() }
    }

    /// Takes in a fact of the task's log.
    pub(crate) fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::TaskResumed { alone, .. } => self.oversight = Watcher::of(*alone || self.parent.is_none()),
            Fact::ModelReplied { turn, reply } => self.calls = TurnCalls::of(*turn, reply),
            Fact::ChildStarted { call, child, background: true } | Fact::ChildReleased { call, child } => {
                self.expect(*child, self.calls.place(call), None);
            }
            Fact::ChildAdopted { child, ended_leg } => self.expect(*child, InboxPosition::Adopted, *ended_leg),
            Fact::ChildEnded { child, child_leg, .. } => {
                if let Some(background_child) =
                    self.background_children.iter_mut().find(|background_child| background_child.is_at_work(*child))
                {
                    background_child.ended_leg = Some(*child_leg);
                }
            }
            Fact::MessageArrived { number, from, text, command, .. } => {
                self.receive(Message { number: *number, from: from.clone(), text: text.clone() });
                self.last_command = self.last_command.max(command.unwrap_or_default());
            }
            Fact::MailRead { mail, .. } => self.mark_read(mail),
            Fact::QuestionAsked { call, to, text } => {
                let (call, to, text) = (call.clone(), *to, text.clone());
                self.questions.put(OpenQuestion { call, to, text, asked_at: self.n_messages });
            }
            Fact::CallFinished { output, .. } => {
                self.close_question(&output.call);
                self.mark_read(&output.output.mail);
            }
            Fact::TaskEnded { outcome } => self.end_leg(outcome.status),
            _ => {}
        }
    }

    /// Whether the log of the task says that a child works beside it.
    pub(crate) fn has_at_work(&self, child: TaskId) -> bool {
        self.background_children.iter().any(|background_child| background_child.is_at_work(child))
    }

    /// A call waits for no answer to a question any more, and has asked what it had to ask.
    pub(crate) fn close_question(&mut self, call: &CallId) {
        self.questions.close(call);
        self.calls.has_asked(call);
    }

    /// A child works beside the task, or has ended and is not read.
    fn expect(&mut self, child: TaskId, place: InboxPosition, ended_leg: Option<u32>) {
        if ended_leg.is_some() || !self.has_at_work(child) {
            let at = self.background_children.partition_point(|earlier| earlier.place <= place);
            self.background_children.insert(at, BackgroundChild { child, place, ended_leg, report: None });
        }
    }

    fn receive(&mut self, message: Message) {
        // Two that came at once may stand in the log the other way round.
        let at = self.messages.partition_point(|earlier| earlier.number < message.number);
        self.n_messages = self.n_messages.max(message.number);
        self.messages.insert(at, message);
    }

    fn mark_read(&mut self, read: &MailMark) {
        for mark in &read.reports {
            let newest = self.read_legs.entry(mark.child).or_default();
            let is_new = mark.leg > *newest;
            *newest = mark.leg.max(*newest);
            let told = self.background_children.iter().position(|background_child| background_child.tells_of(*mark));
            // Where somebody ended a child while nobody ran the task, this is the only word of it. A report that is
            // read twice says nothing of a later leg.
            let at_work =
                || self.background_children.iter().position(|background_child| background_child.is_at_work(mark.child));
            let at = told.or_else(|| if is_new { at_work() } else { None });
            at.map(|at| self.background_children.remove(at));
        }
        self.messages.retain(|message| !read.messages.contains(&message.number));
    }

    /// What was at work has been stopped, or is somebody else's now. So are reports that nobody read.
    fn end_leg(&mut self, status: Status) {
        self.questions = Questions::default();
        let adopted = self.oversight.hands_over(status);
        self.background_children.retain(|background_child| background_child.ended_leg.is_some() && !adopted);
    }
}

impl Watcher {
    fn of(is_alone: bool) -> Self {
        if is_alone { Self::Nobody } else { Self::TaskAbove }
    }

    /// Whether the children of a task that has ended so go over to the one above it: it cannot use them any more, and
    /// nobody has stopped it. A task that is alone keeps them for its next leg.
    pub(crate) fn hands_over(self, status: Status) -> bool {
        self == Self::TaskAbove && status == Status::Failed
    }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::CallOutput;

    use super::*;

    fn ids() -> (TaskId, CallId) {
        (TaskId::from_random([1; 12]), CallId("call".to_owned()))
    }

    fn reading(child: TaskId, leg: u32) -> Fact {
        let mut output = sortie_protocol::ToolOutput::done("its report", "");
        output.mail.reports = vec![ReportMark { child, leg }];
        Fact::CallFinished { output: CallOutput { call: CallId("look".to_owned()), output }, refused: false }
    }

    #[test]
    fn a_report_that_is_read_twice_leaves_a_child_that_works_again() {
        let ((child, call), mut inbox) = (ids(), InboxRecord::default());
        let started = || Fact::ChildStarted { call: call.clone(), child, background: true };
        inbox.apply(&started());
        inbox.apply(&Fact::ChildEnded { call: call.clone(), child, child_leg: 1 });
        inbox.apply(&reading(child, 1));
        inbox.apply(&started());
        inbox.apply(&reading(child, 1));
        assert!(inbox.has_at_work(child), "its second leg is not read");
        inbox.apply(&reading(child, 2));
        assert!(!inbox.has_at_work(child), "somebody else ended it, and this is the only word of it");
    }
}
