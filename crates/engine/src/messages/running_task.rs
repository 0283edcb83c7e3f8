//! A running task as others in this process reach it: to stop it, write to it, or release it into the background.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sortie_crash::point;
use sortie_journal::{CommandId, Durability, Journal, JournalError};
use sortie_protocol::{Addressee, CallId, Fact, Failure, FailureCode, Job, Sender, TaskId};
use sortie_sandbox::SpillDir;
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::log::writer::{Batch, FactWriter};
use crate::messages::inbox::{Arrival, Inbox};
use crate::messages::mail_text::waits_line;
use crate::messages::report_target::{Recipient, ReportTarget};
use crate::ports::failure::journal_failure;

/// The reason why a question to the task above gets no answer.
pub(crate) const SILENT: &str = "the task above has reached a limit and can no longer answer; use your best \
    judgement, and say what you assumed";

/// The origin of a message. It shows, if the sending was cut off, whether the message has arrived.
pub(crate) enum ArrivedBy {
    /// A command from another process.
    Command(CommandId),
    /// A call of the sending task.
    Call(CallId),
}

/// A question on its way to the task above.
pub(crate) struct ForwardedQuestion<'a> {
    arrival: Arrival<'a>,
    from: Sender,
    text: String,
}

impl ForwardedQuestion<'_> {
    pub(crate) fn fact(&self) -> Fact {
        let Self { arrival, from, text } = self;
        Fact::MessageArrived {
            number: arrival.number,
            from: from.clone(),
            text: text.clone(),
            command: None,
            call: None,
        }
    }
}

/// The stopper of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoppedBy {
    /// A person, or a program that is not a task.
    Outside,
    Task(TaskId),
    /// Nobody directly: the task that it worked for has ended, or was stopped.
    EndOf(TaskId),
}

impl StoppedBy {
    /// Returns the notice for the outcome.
    pub(crate) fn notice(self) -> String {
        match self {
            Self::Outside => "it was stopped from outside the run, by a person or a program".to_owned(),
            Self::Task(task) => format!("it was stopped by {task}"),
            Self::EndOf(task) => format!("it was stopped because {task}, which it worked for, ended or was stopped"),
        }
    }
}

pub(crate) struct RunningTask {
    pub(crate) job: Arc<Job>,
    pub(crate) cancel: CancellationToken,
    /// Cancelled to stop the task where it is, without an ending.
    pub(crate) interrupt: CancellationToken,
    /// Set before the task is cancelled, if it was stopped by itself and not with a task above.
    pub(crate) stopper: OnceLock<StoppedBy>,
    pub(crate) sink: FactWriter,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) account: Arc<Account>,
    /// Working time in other processes and earlier legs.
    pub(crate) worked_before: Duration,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) reports: Arc<SpillDir>,
    /// Address of its report; `None` for a task without a parent here.
    pub(crate) address: Option<Arc<ReportTarget>>,
    /// Cancelled once the ending is on disk and delivered.
    pub(crate) over: CancellationToken,
    /// True if this contract supports background work.
    pub(crate) releasable: bool,
    /// Position up to which messages of other processes were delivered.
    pub(crate) caught_up: CaughtUp,
}

impl RunningTask {
    /// Stops the task and all its descendants.
    pub(crate) fn stop(&self, by: StoppedBy) {
        self.stopper.set(by).ok();
        self.cancel.cancel();
    }

    /// Sends a message to the task. True: it is on disk, and the task reads it before it completes, or its outcome
    /// reports it as unread. False: the task is about to end or is being stopped, and reads nothing more.
    pub(crate) async fn write(&self, from: Sender, text: String, by: ArrivedBy) -> Result<bool, JournalError> {
        let _in_order = self.inbox.writing().await;
        if self.cancel.is_cancelled() {
            return Ok(false);
        }
        let Some(arrival) = self.inbox.arrival() else { return Ok(false) };
        let number = arrival.number;
        let (command, call) = match by {
            ArrivedBy::Command(command) => (Some(command.0), None),
            ArrivedBy::Call(call) => (None, Some(call)),
        };
        let fact = Fact::MessageArrived { number, from, text, command, call };
        match self.sink.append_synced(fact).await {
            Ok(()) => {
                point("mail.arrived");
                drop(arrival);
                Ok(true)
            }
            Err(JournalError::LegOver { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Fails if the task is being stopped and takes no message. A task that ended by itself may be resumed with a
    /// message. A task that was just stopped must not be resumed by a message meant for its old leg.
    pub(crate) fn refuse_when_stopping(&self) -> Result<(), Failure> {
        if !self.cancel.is_cancelled() {
            return Ok(());
        }
        let task = self.job.task;
        let message = format!(
            "nothing was sent: {task} is being stopped and reads nothing more; to resume it, send the message after \
                it has ended"
        );
        Err(Failure::new(FailureCode::IsStopping, message))
    }

    /// Answers the call that waits for the task, which continues in the background. False if no call waits, or the
    /// contract has no words for it.
    ///
    /// Runs to the end even if the caller is dropped: otherwise nobody might deliver the report.
    pub(crate) async fn release(self: &Arc<Self>) -> Result<bool, JournalError> {
        let running_task = Arc::clone(self);
        tokio::spawn(async move { running_task.let_go().await }).await.unwrap_or(Ok(false))
    }

    async fn let_go(&self) -> Result<bool, JournalError> {
        let Some(address) = self.address.as_ref().filter(|_| self.releasable) else { return Ok(false) };
        let mut recipient = address.hold().await;
        if recipient.is_over || !recipient.waits {
            return Ok(false);
        }
        recipient.sink.append_synced(self.word_of_release(&recipient)).await?;
        point("task.released");
        self.answer_call(address, &mut recipient).await;
        Ok(true)
    }

    /// Asks the task above, and writes the question to both logs. If a call waits for this task, the question answers
    /// it; otherwise both would wait for ever. Runs to the end, like a release.
    pub(crate) async fn ask_above(self: &Arc<Self>, call: CallId, question: String) -> Result<(), Failure> {
        let running_task = Arc::clone(self);
        let put = tokio::spawn(async move { running_task.put_question(call, question).await });
        put.await.unwrap_or_else(|broken| Err(Failure::new(FailureCode::Internal, broken.to_string())))
    }

    async fn put_question(&self, call: CallId, question: String) -> Result<(), Failure> {
        let nobody = |why: &str| Failure::new(FailureCode::Nobody, why);
        let address = self.address.as_ref().ok_or_else(|| nobody("no task is above this one; ask the person"))?;
        let mut recipient = address.hold().await;
        if recipient.waits && !self.releasable {
            let why = "the task above waits for your report and cannot answer; use your best judgement, and say what \
                you assumed";
            return Err(nobody(why));
        }
        if recipient.inbox.is_silent() {
            return Err(nobody(SILENT));
        }
        let inbox = Arc::clone(&recipient.inbox);
        let arrival = inbox.arrival().ok_or_else(|| nobody("the task above is about to end; ask the person"))?;
        let message = ForwardedQuestion { arrival, from: self.as_sender(), text: self.worded(&question) };
        let asking = self.inbox.asking().await;
        let mut batch = Batch::default();
        if recipient.waits {
            batch.add(&recipient.sink, self.word_of_release(&recipient));
        }
        batch.add(&self.sink, Fact::QuestionAsked { call, to: Addressee::Parent, text: question });
        batch.add(&recipient.sink, message.fact());
        batch.append(self.journal.as_ref(), Durability::Synced).await.map_err(journal_failure)?;
        point("question.asked");
        drop((asking, message));
        if recipient.waits {
            self.answer_call(address, &mut recipient).await;
        }
        Ok(())
    }

    /// Returns the open questions to the task above, for the log of this inbox's task: if the parent fails, its adopter
    /// gets them. Empty if that task has read its last message.
    pub(crate) fn questions_for<'a>(&self, inbox: &'a Inbox) -> Vec<ForwardedQuestion<'a>> {
        let passed_on = |question: String| {
            Some(ForwardedQuestion { arrival: inbox.arrival()?, from: self.as_sender(), text: self.worded(&question) })
        };
        self.inbox.questions_for_parent().into_iter().filter_map(passed_on).collect()
    }

    fn as_sender(&self) -> Sender {
        Sender::Task { task: self.job.task, agent: self.job.config.agent.clone() }
    }

    fn worded(&self, question: &str) -> String {
        format!("{question}{}", waits_line(self.job.task))
    }

    fn word_of_release(&self, recipient: &Recipient) -> Fact {
        Fact::ChildReleased { call: recipient.call.clone(), child: self.job.task }
    }

    /// Answers the waiting call after the release is on disk; from here on the report goes into the inbox.
    async fn answer_call(&self, address: &ReportTarget, recipient: &mut Recipient) {
        self.tell_in_a_file().await;
        address.release(recipient);
    }

    /// Starts the progress file with everything so far. The task also works without one.
    async fn tell_in_a_file(&self) {
        let (sink, journal, reports) = (self.sink.clone(), Arc::clone(&self.journal), Arc::clone(&self.reports));
        let task = self.job.task;
        let tell = move || {
            let so_far = journal.read(task).unwrap_or_default();
            sink.tell_in(&reports, &so_far);
        };
        tokio::task::spawn_blocking(tell).await.ok();
    }
}

/// The command up to which messages are delivered by catching up, not by the listener.
#[derive(Debug)]
pub(crate) struct CaughtUp(AtomicI64);

impl CaughtUp {
    /// Position for a new task, to which nobody can have written before.
    pub(crate) fn from_the_start() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Position for a resumed task: older messages come first, so the listener has to wait.
    pub(crate) fn not_yet() -> Self {
        Self(AtomicI64::new(i64::MAX))
    }

    /// Marks everything up to this command as delivered; the listener delivers later ones.
    pub(crate) fn with(&self, last: CommandId) {
        self.0.store(last.0, Ordering::Release);
    }

    /// True if the listener has to deliver this command.
    pub(crate) fn is_behind(&self, command: CommandId) -> bool {
        self.0.load(Ordering::Acquire) < command.0
    }
}
