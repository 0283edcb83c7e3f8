//! Open questions of one task. A message answers the oldest question that it can be meant for.

use std::collections::BTreeSet;

use sortie_protocol::{Addressee, CallId, Sender, TaskId};

use crate::messages::inbox::Inbox;
use crate::messages::inbox_record::Message;

/// The tool that asks.
pub(crate) const ASK: &str = "Ask";

/// A question that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenQuestion {
    /// The call that waits for the answer.
    pub(crate) call: CallId,
    pub(crate) to: Addressee,
    pub(crate) text: String,
    /// Number of messages that had arrived before.
    pub(crate) asked_at: u32,
}

impl OpenQuestion {
    /// True if a message can answer it. `above` are the tasks above the asking one.
    fn accepts(&self, message: &Message, above: &[TaskId]) -> bool {
        let is_meant = match &message.from {
            Sender::Person => true,
            Sender::Task { task, .. } => self.to == Addressee::Parent && above.contains(task),
            // A host is above everybody, but nobody's parent and no person.
            Sender::Host => false,
        };
        is_meant && message.number > self.asked_at
    }
}

/// The open questions of a task, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Vec<OpenQuestion>,
    /// Numbers of messages that were answers. They count as read when the log says so.
    answers: BTreeSet<u32>,
    /// Tasks that have had this task since its parent failed.
    adopters: Vec<TaskId>,
}

impl Questions {
    pub(crate) fn put(&mut self, question: OpenQuestion) {
        self.open.push(question);
    }

    /// Returns the texts of open questions to the task above.
    pub(crate) fn for_parent(&self) -> Vec<String> {
        let open = self.open.iter().filter(|question| question.to == Addressee::Parent);
        open.map(|question| question.text.clone()).collect()
    }

    /// Adds a task above, which may also answer.
    pub(crate) fn adopt(&mut self, adopter: TaskId) {
        self.adopters.push(adopter);
    }

    /// Closes the question of a call.
    pub(crate) fn close(&mut self, call: &CallId) {
        self.open.retain(|question| question.call != *call);
    }

    pub(crate) fn is_put(&self, call: &CallId) -> bool {
        self.open.iter().any(|question| question.call == *call)
    }

    /// True if the task waits for an answer to this text.
    pub(crate) fn is_open(&self, text: &str) -> bool {
        self.open.iter().any(|question| question.text == text)
    }

    /// Returns the calls of questions to the task above that none of these messages answers.
    pub(crate) fn unanswered_by(&self, above: TaskId, messages: &[Message]) -> Vec<CallId> {
        let answered = self.answered(messages, &[above]).into_iter();
        let open = answered.filter(|(question, answer)| question.to == Addressee::Parent && answer.is_none());
        open.map(|(question, _)| question.call.clone()).collect()
    }

    /// Takes the message that answers the question of a call, if it has arrived.
    pub(crate) fn take_answer(&mut self, call: &CallId, messages: &[Message], above: &[TaskId]) -> Option<Message> {
        let answered = self.answered(messages, above);
        let answer = answered.into_iter().find(|(question, _)| question.call == *call)?.1?.clone();
        self.answers.insert(answer.number);
        self.close(call);
        Some(answer)
    }

    /// Pairs each open question with its answer: the first message that it accepts and no older question has taken.
    fn answered<'a>(
        &'a self,
        messages: &'a [Message],
        above: &[TaskId],
    ) -> Vec<(&'a OpenQuestion, Option<&'a Message>)> {
        let above: Vec<TaskId> = above.iter().chain(&self.adopters).copied().collect();
        let mut taken = self.answers.clone();
        let answered = self.open.iter().map(|question| {
            let is_free = |message: &&Message| !taken.contains(&message.number) && question.accepts(message, &above);
            let answer = messages.iter().find(is_free);
            taken.extend(answer.map(|answer| answer.number));
            (question, answer)
        });
        answered.collect()
    }
}

#[cfg(test)]
impl Questions {
    pub(crate) fn are_among(&self, others: &Self) -> bool {
        self.open.iter().all(|question| others.open.contains(question))
    }
}

/// Guard of a call that waits for an answer; dropping it closes the question.
pub(crate) struct Asker<'a> {
    pub(crate) inbox: &'a Inbox,
    pub(crate) call: &'a CallId,
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        self.inbox.close_question(self.call);
    }
}
