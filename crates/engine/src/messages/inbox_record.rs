//! The inbox as the log records it: messages, background children with their reports, and questions.
//!
//! One function applies the facts, both in a running task's inbox as they are written and when a log is read back.

use std::collections::BTreeMap;

use sortie_protocol::{CallId, Fact, Job, MailMark, ReportMark, Sender, Status, TaskId, TaskOutcome};

use crate::messages::inbox_order::{InboxPosition, TurnCalls};
use crate::messages::questions::{OpenQuestion, Questions};

/// Mail of a task that is not yet in its conversation.
#[derive(Debug, Default)]
pub(crate) struct InboxRecord {
    /// Children that work in the background, or whose reports are unread, in order of position. A child that was
    /// resumed before its report was read is here twice.
    pub(crate) background_children: Vec<BackgroundChild>,
    /// The calls of the newest turn, which start children.
    pub(crate) calls: TurnCalls,
    /// Unread messages, in order of number.
    pub(crate) messages: Vec<Message>,
    /// Highest message number so far.
    pub(crate) n_messages: u32,
    /// Id of the last command that arrived as a message.
    pub(crate) last_command: i64,
    pub(crate) questions: Questions,
    /// Newest leg of each child whose report was read.
    read_legs: BTreeMap<TaskId, u32>,
    parent: Option<TaskId>,
    /// The watcher of the newest leg.
    pub(crate) oversight: Watcher,
}

/// The task above that takes part in a leg, if any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Watcher {
    #[default]
    Nobody,
    TaskAbove,
}

/// A child that works in the background.
#[derive(Debug, Clone)]
pub(crate) struct BackgroundChild {
    pub(crate) child: TaskId,
    pub(crate) place: InboxPosition,
    /// The ended leg with an unread report, according to the log.
    pub(crate) ended_leg: Option<u32>,
    /// Its report, if this process has it. The child's own log has it, the parent's has not.
    pub(crate) report: Option<Report>,
}

/// The ending of one leg of a child.
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
    /// True if the child has not reported here.
    pub(crate) fn awaits(&self, child: TaskId) -> bool {
        self.child == child && self.report.is_none()
    }

    /// True if the child is at work, as far as the log and this process know.
    fn is_at_work(&self, child: TaskId) -> bool {
        self.awaits(child) && self.ended_leg.is_none()
    }

    fn tells_of(&self, mark: ReportMark) -> bool {
        let leg = self.report.as_ref().map(|report| report.leg).or(self.ended_leg);
        self.child == mark.child && leg == Some(mark.leg)
    }
}

impl InboxRecord {
    /// Returns the empty inbox of a new task.
    pub(crate) fn begin(job: &Job) -> Self {
        Self { parent: job.parent, oversight: Watcher::of(job.parent.is_none()), ..Self::default() }
    }

    /// Applies a fact of the task's log.
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

    /// True if the child works in the background, according to the log.
    pub(crate) fn has_at_work(&self, child: TaskId) -> bool {
        self.background_children.iter().any(|background_child| background_child.is_at_work(child))
    }

    /// Closes the question of a call that no longer waits for an answer.
    pub(crate) fn close_question(&mut self, call: &CallId) {
        self.questions.close(call);
        self.calls.has_asked(call);
    }

    /// Adds a child that works in the background, or has ended unread.
    fn expect(&mut self, child: TaskId, place: InboxPosition, ended_leg: Option<u32>) {
        if ended_leg.is_some() || !self.has_at_work(child) {
            let at = self.background_children.partition_point(|earlier| earlier.place <= place);
            self.background_children.insert(at, BackgroundChild { child, place, ended_leg, report: None });
        }
    }

    fn receive(&mut self, message: Message) {
        // Two simultaneous messages may be in the log in either order.
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
            // If a child was ended while nobody ran this task, this is the only fact that says so. A report that is
            // read twice says nothing about a later leg.
            let at_work =
                || self.background_children.iter().position(|background_child| background_child.is_at_work(mark.child));
            let at = told.or_else(|| if is_new { at_work() } else { None });
            at.map(|at| self.background_children.remove(at));
        }
        self.messages.retain(|message| !read.messages.contains(&message.number));
    }

    /// Drops children that were stopped with the leg, and, if they were adopted, unread reports as well.
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

    /// True if the background children of a task with this ending go to the task above: it failed, and nobody stopped
    /// it. A task with nobody above keeps them for its next leg.
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
    fn a_report_read_twice_does_not_remove_a_resumed_child() {
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
