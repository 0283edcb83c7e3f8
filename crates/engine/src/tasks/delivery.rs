//! Delivery of a task's ending: to the call that waits for it, or into its parent's inbox.
//!
//! A task that ends also settles its background children. A task that was stopped, or has no parent, stops them and
//! waits. A task that failed leaves them to its parent.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_protocol::{CallId, Failure, FailureCode, Sender, Status, TaskId, TaskOutcome, Usage};
use tokio::sync::OwnedMutexGuard;

use crate::budget::deadline::Deadline;
use crate::conversation::outcome::Ending;
use crate::conversation::task_record::IN_BACKGROUND;
use crate::log::writer::{Orphan, ParentEntry};
use crate::messages::inbox_record::{BackgroundChild, Report, Watcher};
use crate::messages::mail_text::unread_notice;
use crate::messages::report_target::{Recipient, ReportTarget};
use crate::messages::running_task::{ForwardedQuestion, RunningTask, StoppedBy};
use crate::tasks::resume::end_interrupted::report_of;
use crate::tasks::state::EngineError;
use crate::tasks::task::Task;

impl Task {
    /// Records and delivers the ending, including the usage of background children until they stopped.
    pub(crate) async fn deliver(&self, outcome: &mut TaskOutcome) -> Result<(), JournalError> {
        self.end_absent_charges().await;
        let oversight = if self.address.is_some() { Watcher::TaskAbove } else { Watcher::Nobody };
        let hands_over = oversight.hands_over(outcome.status);
        if !hands_over {
            self.stop_charges().await;
        }
        outcome.usage = Usage { duration_ms: outcome.usage.duration_ms, ..self.account.spent() };
        outcome.files_changed = self.account.files_changed();
        // Messages on their way arrive or are refused here, so that the outcome mentions each that was confirmed.
        self.record.inbox.shut().await;
        outcome.notices.extend(self.left_unread(hands_over));
        let Some(address) = &self.address else {
            self.tell_who_stopped(outcome, None);
            return self.sink.end(outcome.clone(), None, Vec::new()).await;
        };
        let mut to = address.hold().await;
        self.tell_who_stopped(outcome, Some(to.sink.task()));
        let mut held = BTreeMap::new();
        let mut background_children = self.hold_charges(&mut held).await;
        if !hands_over {
            background_children.clear();
        }
        let inbox = Arc::clone(&to.inbox);
        let mut passed_on = Vec::new();
        let mut orphans = Vec::new();
        for BackgroundChild { child, report, .. } in &background_children {
            let asked = held.get(child).map(|held| held.running_task.questions_for(&inbox)).unwrap_or_default();
            let messages = asked.iter().map(ForwardedQuestion::fact).collect();
            orphans.push(Orphan { child: *child, ended_leg: report.as_ref().map(|report| report.leg), messages });
            passed_on.extend(asked);
        }
        let word = ParentEntry { sink: &to.sink, call: &to.call, waits: to.waits };
        self.sink.end(outcome.clone(), Some(word), orphans).await?;
        if !background_children.is_empty() {
            point("task.adopted");
        }
        for BackgroundChild { child, report, .. } in background_children {
            if let Some(report) = report {
                inbox.report(child, report);
            } else if let Some(held) = held.get_mut(&child) {
                held.go_over(&to, &address.deadline);
            }
        }
        drop(passed_on);
        if !to.waits {
            to.inbox.report(self.job.task, Report { leg: self.sink.leg(), outcome: Box::new(outcome.clone()) });
        }
        to.is_over = true;
        Ok(())
    }

    /// Returns a notice about unread mail. Mail of children that a new parent gets is reported there.
    fn left_unread(&self, hands_over: bool) -> Option<String> {
        let unread = self.record.inbox.unread();
        if !hands_over {
            // A report of a child that was stopped with the task adds nothing.
            let told = unread.reports.iter().filter(|report| report.outcome.status != Status::Cancelled);
            return unread_notice(told.count(), unread.messages.len());
        }
        let children: Vec<TaskId> =
            self.record.inbox.close().into_iter().map(|background_child| background_child.child).collect();
        let is_of_child = |from: &Sender| matches!(from, Sender::Task { task, .. } if children.contains(task));
        unread_notice(0, unread.messages.iter().filter(|message| !is_of_child(&message.from)).count())
    }

    /// Adds a notice that names the stopper of a cancelled task, since the parent may not know about it.
    fn tell_who_stopped(&self, outcome: &mut TaskOutcome, above: Option<TaskId>) {
        if outcome.status != Status::Cancelled {
            return;
        }
        let own = self.engine.present.find(self.job.task);
        let stopper = own.and_then(|own| own.stopper.get().copied()).or(above.map(StoppedBy::EndOf));
        outcome.notices.extend(stopper.map(StoppedBy::notice));
    }

    /// Handles a lost journal, or a task that another process has. Its children end, and a parent that would hear
    /// nothing else gets a report; a waiting call returns by itself.
    ///
    /// If the journal did not accept the ending, the parent must not continue either: it would report an ending that
    /// does not exist. So the whole tree stops as in a crash, and can be resumed.
    pub(crate) async fn deliver_unrecorded(&self, error: &EngineError) {
        self.cancel.cancel();
        let untold = match error {
            EngineError::Journal(error) if !error.is_of_others() => Some(error),
            EngineError::Journal(_) | EngineError::Aborted => None,
        };
        untold.inspect(|error| self.sink.forsake(error));
        let Some(address) = &self.address else { return };
        let to = address.hold().await;
        untold.inspect(|error| to.sink.shut_out(error));
        if !to.waits && !to.is_over {
            let failure = Failure::new(FailureCode::Internal, error.to_string());
            let outcome = self.outcome(Ending::Failed { failure, text: String::new() });
            to.inbox.report(self.job.task, Report { leg: self.sink.leg(), outcome: Box::new(outcome) });
        }
    }

    /// Ends expected children that nobody runs, because the task ends before it could resume them. They are reported
    /// like all others.
    async fn end_absent_charges(&self) {
        let call = CallId::from(IN_BACKGROUND);
        for (child, ended_leg) in self.record.inbox.unreported() {
            if self.engine.present.find(child).is_some() {
                continue;
            }
            match report_of(&self.engine, child, ended_leg, self.caller(&call)).await {
                Ok(report) => self.record.inbox.report(child, report),
                // Another process has it, or it cannot be read.
                Err(_) => self.record.inbox.forget(child),
            }
        }
    }

    /// Stops the background children, and waits for them.
    async fn stop_charges(&self) {
        loop {
            let changed = self.record.inbox.change();
            let at_work = self.record.inbox.at_work();
            if at_work.is_empty() {
                return;
            }
            for child in at_work {
                if !self.engine.present.stop(child, StoppedBy::EndOf(self.job.task)) {
                    // It has ended meanwhile.
                    self.record.inbox.forget(child);
                }
            }
            changed.await;
        }
    }

    /// Returns the remaining children once their state is final: those at work cannot end while they are in `held`.
    async fn hold_charges(&self, held: &mut BTreeMap<TaskId, Held>) -> Vec<BackgroundChild> {
        loop {
            let background_children = self.record.inbox.close();
            let is_new = |background_child: &&BackgroundChild| {
                background_child.report.is_none() && !held.contains_key(&background_child.child)
            };
            let Some(next) = background_children.iter().find(is_new).map(|background_child| background_child.child)
            else {
                return background_children;
            };
            let running_task = self.engine.present.find(next);
            let Some((running_task, address)) =
                running_task.and_then(|found| Some((Arc::clone(&found), found.address.clone()?)))
            else {
                self.record.inbox.forget(next);
                continue;
            };
            let recipient = address.hold().await;
            if !recipient.is_over {
                held.insert(next, Held { running_task, address, recipient });
            }
        }
    }
}

/// Guard: while held, the child can neither end nor ask a question.
struct Held {
    running_task: Arc<RunningTask>,
    address: Arc<ReportTarget>,
    recipient: OwnedMutexGuard<Recipient>,
}

impl Held {
    /// Moves the child, and its deadline, to a new parent.
    fn go_over(&mut self, to: &Recipient, deadline: &Arc<Deadline>) {
        (self.recipient.sink, self.recipient.inbox) = (to.sink.clone(), Arc::clone(&to.inbox));
        self.address.deadline.move_below(Arc::clone(deadline));
        self.running_task.inbox.adopt(to.sink.task());
    }
}
