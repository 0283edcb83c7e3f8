//! The inbox of a running task: reports of background children, and messages, that are not yet in its conversation.
//!
//! The record in it comes from the log: the log feeds it, and a resumed task gets it back from there. The rest is not
//! on record: messages on their way, and whether the task still reads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sortie_protocol::{CallId, Fact, ReportMark, TaskId};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, watch};

use crate::messages::inbox_record::{BackgroundChild, InboxRecord, Message, Report};

/// The inbox of one task.
pub(crate) struct Inbox {
    mail: Mutex<Mail>,
    changed: watch::Sender<()>,
    /// Shared by writers; exclusive for a task that asks, until the question is on disk. A message with a higher number
    /// than a question thus also follows it in the log.
    order: RwLock<()>,
}

#[derive(Default)]
struct Mail {
    /// The part that comes from the log.
    mailbox: InboxRecord,
    /// Highest message number given so far, and the number of messages not yet on disk.
    numbered: u32,
    arriving: u32,
    /// The leg is over, and later senders are told so.
    is_closed: bool,
    /// The task still reads, but can answer nobody any more.
    is_silent: bool,
}

/// Everything that waits to be read.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    pub(crate) reports: Vec<Report>,
    pub(crate) messages: Vec<Message>,
}

impl Mail {
    /// True if nothing is here, on its way, or expected.
    fn is_empty(&self) -> bool {
        self.mailbox.background_children.is_empty() && self.mailbox.messages.is_empty() && self.arriving == 0
    }

    fn is_readable(&self) -> bool {
        !self.mailbox.messages.is_empty()
            || self.mailbox.background_children.iter().any(|background_child| background_child.report.is_some())
    }
}

/// A message on its way. The task does not end before this is dropped.
pub(crate) struct Arrival<'a> {
    inbox: &'a Inbox,
    pub(crate) number: u32,
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.inbox.lock().arriving -= 1;
        self.inbox.changed.send_replace(());
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self { mail: Mutex::default(), changed: watch::Sender::new(()), order: RwLock::default() }
    }
}

impl Inbox {
    /// Returns the inbox of a task with this mail in its log.
    pub(crate) fn of(mailbox: InboxRecord) -> Self {
        let mail = Mail { numbered: mailbox.n_messages, mailbox, ..Mail::default() };
        Self { mail: Mutex::new(mail), ..Self::default() }
    }

    /// Applies a fact that the log has accepted.
    pub(crate) fn apply(&self, fact: &Fact) {
        self.lock().mailbox.apply(fact);
        self.changed.send_replace(());
    }

    /// Forgets a child that could not be started, or that another task has now. Its reports stay.
    pub(crate) fn forget(&self, child: TaskId) {
        self.lock().mailbox.background_children.retain(|background_child| !background_child.awaits(child));
        self.changed.send_replace(());
    }

    /// Delivers the report of a child that has ended. An unexpected report is dropped.
    pub(crate) fn report(&self, child: TaskId, report: Report) {
        let mut mail = self.lock();
        if let Some(background_child) =
            mail.mailbox.background_children.iter_mut().find(|background_child| background_child.awaits(child))
        {
            background_child.report = Some(report);
        }
        drop(mail);
        self.changed.send_replace(());
    }

    /// Reserves a number for a message that is about to be written; `None` if the task has read its last message.
    pub(crate) fn arrival(&self) -> Option<Arrival<'_>> {
        let mut mail = self.lock();
        if mail.is_closed {
            return None;
        }
        mail.arriving += 1;
        mail.numbered += 1;
        Some(Arrival { inbox: self, number: mail.numbered })
    }

    /// Returns everything that can be read now.
    pub(crate) fn unread(&self) -> Unread {
        let mail = self.lock();
        let reports = mail
            .mailbox
            .background_children
            .iter()
            .filter_map(|background_child| background_child.report.clone())
            .collect();
        Unread { reports, messages: mail.mailbox.messages.clone() }
    }

    /// Returns the newest unread report of a child.
    pub(crate) fn mark_of(&self, child: TaskId) -> Option<ReportMark> {
        let mail = self.lock();
        let background_child =
            mail.mailbox.background_children.iter().rfind(|background_child| background_child.child == child)?;
        background_child.report.as_ref().map(|report| ReportMark { child, leg: report.leg })
    }

    /// Returns children that work in the background, or whose reports are unread.
    pub(crate) fn background_children(&self) -> Vec<BackgroundChild> {
        self.lock().mailbox.background_children.clone()
    }

    /// Returns the id of the last command that arrived as a message.
    pub(crate) fn last_command(&self) -> i64 {
        self.lock().mailbox.last_command
    }

    /// Returns children without a report in this process; with the leg, if the log says that it has ended.
    pub(crate) fn unreported(&self) -> Vec<(TaskId, Option<u32>)> {
        let mail = self.lock();
        let open = mail.mailbox.background_children.iter().filter(|background_child| background_child.report.is_none());
        open.map(|background_child| (background_child.child, background_child.ended_leg)).collect()
    }

    /// Returns the first unread message that matches.
    pub(crate) fn first(&self, is_meant: impl Fn(&Message) -> bool) -> Option<Message> {
        self.lock().mailbox.messages.iter().find(|message| is_meant(message)).cloned()
    }

    /// Returns children whose reports are still missing.
    pub(crate) fn at_work(&self) -> Vec<TaskId> {
        let mail = self.lock();
        let background_children =
            mail.mailbox.background_children.iter().filter(|background_child| background_child.report.is_none());
        background_children.map(|background_child| background_child.child).collect()
    }

    /// True if the child works because of a message that the newest turn sent to it.
    pub(crate) fn has_just_written_to(&self, child: TaskId) -> bool {
        let mailbox = &self.lock().mailbox;
        mailbox.background_children.iter().any(|background_child| {
            background_child.awaits(child) && mailbox.calls.have_written(background_child.place)
        })
    }

    /// Closes the inbox, unless something is here, on its way, or expected.
    pub(crate) fn close_if_empty(&self) -> bool {
        let mut mail = self.lock();
        mail.is_closed = mail.is_empty();
        mail.is_closed
    }

    /// True if nothing is here, on its way, or expected. A message may still come at this moment.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Closes the inbox, and returns what is left, for the outcome.
    pub(crate) fn close(&self) -> Vec<BackgroundChild> {
        let mut mail = self.lock();
        mail.is_closed = true;
        mail.mailbox.background_children.clone()
    }

    /// True if there is something to read.
    pub(crate) fn has_mail(&self) -> bool {
        self.lock().is_readable()
    }

    /// Waits until there is something to read, or nothing can come.
    pub(crate) async fn something(&self) {
        self.until(|mail| mail.is_readable() || mail.mailbox.background_children.is_empty() && mail.arriving == 0)
            .await;
    }

    /// Closes the inbox, and waits until messages on their way have arrived.
    pub(crate) async fn shut(&self) {
        self.lock().is_closed = true;
        self.until(|mail| mail.arriving == 0).await;
    }

    /// Waits until all children have reported, or a message is here, since messages must not wait.
    pub(crate) async fn all_reports_or_a_message(&self) {
        let is_whole = |mail: &Mail| {
            mail.mailbox.background_children.iter().all(|background_child| background_child.report.is_some())
        };
        self.until(|mail| !mail.mailbox.messages.is_empty() || is_whole(mail)).await;
    }

    /// Waits until all children have reported.
    pub(crate) async fn all_home(&self) {
        self.until(|mail| {
            mail.mailbox.background_children.iter().all(|background_child| background_child.report.is_some())
        })
        .await;
    }

    /// Waits until something has changed since this was called.
    pub(crate) fn change(&self) -> impl Future<Output = ()> + use<> {
        let mut changed = self.changed.subscribe();
        async move {
            // The sender lives as long as the task.
            changed.changed().await.ok();
        }
    }

    /// Waits for a message that matches.
    pub(crate) async fn message(&self, is_meant: impl Fn(&Message) -> bool) -> Message {
        let mut changed = self.changed.subscribe();
        loop {
            if let Some(message) = self.first(&is_meant) {
                return message;
            }
            // The sender lives as long as we do.
            changed.changed().await.ok();
        }
    }

    /// Held by a sender that may answer, from the number of its message until it is on disk.
    pub(crate) async fn writing(&self) -> RwLockReadGuard<'_, ()> {
        self.order.read().await
    }

    /// Waits until possible answers are on disk, and holds back later ones.
    pub(crate) async fn asking(&self) -> RwLockWriteGuard<'_, ()> {
        self.order.write().await
    }

    /// Returns the task's unanswered questions to the task above.
    pub(crate) fn questions_for_parent(&self) -> Vec<String> {
        self.lock().mailbox.questions.for_parent()
    }

    /// True if a question to the task `above` is unanswered.
    pub(crate) fn awaits_answer_of(&self, above: TaskId) -> bool {
        !self.unanswered_by(above).is_empty()
    }

    /// Returns the calls whose questions to the task `above` are unanswered.
    pub(crate) fn unanswered_by(&self, above: TaskId) -> Vec<CallId> {
        let mailbox = &self.lock().mailbox;
        mailbox.questions.unanswered_by(above, &mailbox.messages)
    }

    /// Sets a new task above.
    pub(crate) fn adopt(&self, adopter: TaskId) {
        self.lock().mailbox.questions.adopt(adopter);
        self.changed.send_replace(());
    }

    /// True if a call has put its question.
    pub(crate) fn is_put(&self, call: &CallId) -> bool {
        self.lock().mailbox.questions.is_put(call)
    }

    /// True if the task waits for an answer to this text.
    pub(crate) fn waits_for_answer(&self, text: &str) -> bool {
        self.lock().mailbox.questions.is_open(text)
    }

    pub(crate) fn close_question(&self, call: &CallId) {
        self.lock().mailbox.close_question(call);
        self.changed.send_replace(());
    }

    /// Waits until all earlier calls of the turn have asked, so that questions come in the order of the calls.
    pub(crate) async fn may_ask(&self, call: &CallId) {
        self.until(|mail| mail.mailbox.calls.may_ask(call)).await;
    }

    /// Notes that a call has asked, or will not.
    pub(crate) fn has_asked(&self, call: &CallId) {
        if self.lock().mailbox.calls.has_asked(call) {
            self.changed.send_replace(());
        }
    }

    /// Marks the task as unable to answer, since it has no turn left.
    pub(crate) fn fall_silent(&self) {
        self.lock().is_silent = true;
        self.changed.send_replace(());
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.lock().is_silent
    }

    /// Waits until the task answers nobody any more.
    pub(crate) async fn silence(&self) {
        self.until(|mail| mail.is_silent).await;
    }

    /// Waits for the answer to a call's question, from the person or from a task above.
    pub(crate) async fn answer(&self, call: &CallId, above: &[TaskId]) -> Message {
        let mut changed = self.changed.subscribe();
        loop {
            if let Some(answer) = self.take_answer(call, above) {
                return answer;
            }
            // The sender lives as long as we do.
            changed.changed().await.ok();
        }
    }

    fn take_answer(&self, call: &CallId, above: &[TaskId]) -> Option<Message> {
        let InboxRecord { questions, messages, .. } = &mut self.lock().mailbox;
        questions.take_answer(call, messages, above)
    }

    async fn until(&self, is_so: impl Fn(&Mail) -> bool) {
        let mut changed = self.changed.subscribe();
        while !is_so(&self.lock()) {
            changed.changed().await.ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Inbox {
    /// Fails unless this equals the record read back from the log, apart from state that no log has.
    pub(crate) fn assert_is(&self, read: &InboxRecord) {
        let live = &self.lock().mailbox;
        let background_children = |mail: &InboxRecord| -> Vec<_> {
            mail.background_children
                .iter()
                .map(|background_child| (background_child.child, background_child.place, background_child.ended_leg))
                .collect()
        };
        assert_eq!(background_children(live), background_children(read));
        assert_eq!((&live.messages, live.n_messages), (&read.messages, read.n_messages));
        assert_eq!((live.last_command, live.oversight), (read.last_command, read.oversight));
        assert!(live.questions.are_among(&read.questions), "a call that is answered closes its question");
    }
}
