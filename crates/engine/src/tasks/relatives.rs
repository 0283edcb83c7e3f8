//! Relatives: the tasks below and above a task and its siblings, as far as it can see, message and ask them.

mod answer_wait;
mod cached_report;
mod question;
mod status;
mod visible;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sortie_crash::point;
use sortie_journal::TaskState;
use sortie_protocol::{Addressee, CallId, Event, Fact, Failure, FailureCode, Sender, TaskId, TaskOutcome, TaskRequest};
use sortie_tools::{
    Answered, BoxFuture, Choice, Delegated, Delegation, Glance, Kin, Listing, Note, Receipt, ReportPage, Sought, Stand,
    Work,
};

use self::cached_report::given;
use self::question::{PersonQuestion, ask_person, put_question, wait_for_parent};
pub(crate) use self::status::{
    END_WITHIN, StatusReader, at_work, end_all, listing, not_ended, page_of, recorded_stand, report_page, stand_of,
};
pub(crate) use self::visible::RelatedTask;
use crate::conversation::load_task::read;
use crate::gate::children::Children;
use crate::log::notes::NoteReader;
use crate::messages::questions::Asker;
use crate::messages::running_task::{ArrivedBy, RunningTask, StoppedBy};
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::delegate::Delegate;
use crate::tasks::resume::follow_up::is_own;
use crate::tasks::resume::reattach::{Found, end_instead};
use crate::tasks::scope::TaskScope;

/// Access to the tasks around one task.
pub(crate) struct Relatives {
    pub(crate) scope: Arc<TaskScope>,
    pub(crate) delegate: Delegate,
}

impl Children for Relatives {
    fn delegation(&self) -> &dyn Delegation {
        &self.delegate
    }

    fn relatives(&self) -> &dyn Kin {
        self
    }

    fn let_go<'a>(&'a self, call: &'a CallId, refusal: &'a str) -> BoxFuture<'a, Option<TaskOutcome>> {
        Box::pin(async move {
            let attached = *self.scope.attached.get(call)?;
            match end_instead(&self.scope, call, attached, Failure::new(FailureCode::Permission, refusal)).await {
                Found::Ended(outcome) | Found::OutOfReach(outcome) => Some(*outcome),
                Found::Open(_) => None,
            }
        })
    }
}

impl Kin for Relatives {
    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>> {
        Box::pin(async move {
            let member = match self.below(task).await {
                // It ended before this task started: a report from the result cache.
                Err(none) if none.code == FailureCode::NoSuchTask => {
                    return given(&self.scope, task).await.map(Glance::from);
                }
                member => member?,
            };
            if let Some(running_task) = self.scope.engine.present.find(member.task) {
                let something_else = self.scope.inbox.message(|_| true);
                let over = async {
                    tokio::select! {
                        biased;
                        () = running_task.over.cancelled() => {}
                        // The message may be a question of the very task that is waited for.
                        _ = something_else => {}
                    }
                };
                // A child whose question has been read waits for this task: waiting for it would be in vain.
                if !self.is_asked_by(&running_task).await {
                    tokio::time::timeout(patience, over).await.ok();
                }
            }
            self.glance(self.below(task).await?).await
        })
    }

    fn list<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move {
            let mut members = self.tree(self.scope.job.task).await?;
            members.retain(|member| member.task != self.scope.job.task);
            listing(self, members, choice).await
        })
    }

    fn siblings<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move {
            let Some(parent) = self.scope.job.parent else { return Ok(Listing::default()) };
            let mut members = self.tree(parent).await?;
            members.retain(|member| member.parent == Some(parent) && member.task != self.scope.job.task);
            listing(self, members, choice).await
        })
    }

    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>> {
        Box::pin(async move {
            match self.below(task).await {
                Ok(member) => report_page(&self.scope.engine, member.task, from, most).await,
                Err(none) if none.code == FailureCode::NoSuchTask => {
                    page_of(&self.scope.engine, *given(&self.scope, task).await?.outcome, from, most).await
                }
                Err(failure) => Err(failure),
            }
        })
    }

    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>> {
        Box::pin(async move {
            let task = self.below(task).await?.task;
            let stopped =
                end_all(&self.scope.engine, task, &self.tree(task).await?, StoppedBy::Task(self.scope.job.task))
                    .await?;
            let mut glances = Vec::new();
            for running_task in stopped {
                glances.push(self.glance(self.recorded(running_task.job.task).await?).await?);
            }
            Ok(glances)
        })
    }

    fn send<'a>(&'a self, call: &'a CallId, to: &'a str, text: String) -> BoxFuture<'a, Result<Receipt, Failure>> {
        Box::pin(async move {
            if let Some(attached) = self.scope.attached.get(call) {
                // It was resumed with this message before a crash.
                return Ok(Receipt::Resumed { task: attached.child });
            }
            let RelatedTask { task, parent, state, .. } = self.in_reach(to).await?;
            if self.scope.begun.contains(call) && self.has_arrived(task, call).await? {
                return Ok(Receipt::Delivered { task });
            }
            let from = Sender::Task { task: self.scope.job.task, agent: self.scope.job.config.agent.clone() };
            let running_task = self.scope.engine.present.find(task);
            if let Some(running_task) = &running_task
                && running_task
                    .write(from, text.clone(), ArrivedBy::Call(call.clone()))
                    .await
                    .map_err(journal_failure)?
            {
                return Ok(Receipt::Delivered { task });
            }
            running_task.as_deref().map_or(Ok(()), RunningTask::refuse_when_stopping)?;
            let (journal, own) = (Arc::clone(&self.scope.engine.journal), self.scope.job.task);
            if !blocking(move || is_own(journal.as_ref(), own, task, parent)).await? {
                let is_over = running_task.is_some() || matches!(state, TaskState::Ended(_));
                let how = if is_over { "has ended" } else { "is not running here" };
                let message = format!("{task} {how}; only its parent can resume it");
                return Err(Failure::new(FailureCode::HasEnded, message));
            }
            if let Some(running_task) = running_task {
                // It has read its last message, and will end soon.
                running_task.over.cancelled().await;
            }
            self.resume_with(call, task, text).await
        })
    }

    fn ask<'a>(
        &'a self,
        call: &'a CallId,
        whom: Addressee,
        question: String,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Option<Answered>, Failure>> {
        Box::pin(async move {
            let _asker = Asker { inbox: &self.scope.inbox, call };
            self.scope.inbox.may_ask(call).await;
            if !self.scope.inbox.is_put(call) {
                put_question(self, call, whom, &question).await?;
            }
            let above: Vec<TaskId> = self.scope.job.parent.into_iter().chain(self.above_now().await).collect();
            let answered_elsewhere = OnceLock::new();
            let by_mail = async {
                let message = self.scope.inbox.answer(call, &above).await;
                answered_elsewhere.get_or_init(|| ());
                Answered { text: message.text, from: message.from, message: Some(message.number) }
            };
            let by_hand = async {
                match whom {
                    Addressee::Person => {
                        ask_person(self, PersonQuestion { call, question: &question, patience }, &answered_elsewhere)
                            .await
                    }
                    Addressee::Parent => {
                        self.scope.inbox.has_asked(call);
                        wait_for_parent(self, patience).await
                    }
                }
            };
            tokio::select! {
                biased;
                // First: the message may be the parent's last.
                answer = by_mail => Ok(Some(answer)),
                answer = by_hand => answer,
            }
        })
    }

    fn post(&self, text: String) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            // On disk, where it is read.
            self.scope.sink.append_synced(Fact::NotePosted { text }).await.map_err(journal_failure)?;
            point("note.posted");
            Ok(())
        })
    }

    fn notes(&self, sought: Sought) -> BoxFuture<'_, Result<Vec<Note>, Failure>> {
        Box::pin(async move {
            let journal = Arc::clone(&self.scope.engine.journal);
            let reader = NoteReader { root: self.scope.job.root, task: self.scope.job.task };
            let board = self.scope.engine.note_boards.of(reader.root);
            blocking(move || board.look(journal.as_ref(), reader, sought)).await
        })
    }
}

impl Relatives {
    /// Resumes an ended task in the background, with a message.
    async fn resume_with(&self, call: &CallId, task: TaskId, text: String) -> Result<Receipt, Failure> {
        let engine = &self.scope.engine;
        if !engine.contract.defaults().companions.allow_background() {
            let tool = engine.contract.tool_name();
            let message = format!("{task} has ended, and nothing resumes it here; start a new one with `{tool}`");
            return Err(Failure::new(FailureCode::HasEnded, message));
        }
        engine.rules.check_resume()?;
        if !engine.rules.background {
            let message = format!(
                "{task} has ended, and background work is switched off here (`task_tool.background`); to resume it, \
                    call {} with its id as `resume`",
                engine.contract.tool_name()
            );
            return Err(Failure::new(FailureCode::BackgroundOff, message));
        }
        let resume = Some(task.to_string());
        let request = TaskRequest { prompt: text, resume, background: true, ..TaskRequest::default() };
        match self.delegate.delegate(call, request).await? {
            Delegated::Launched(_) | Delegated::Ended(_) => Ok(Receipt::Resumed { task }),
        }
    }

    /// Returns true if this call delivered its message before it was interrupted. Fails if the recipient ended before
    /// it read the message.
    async fn has_arrived(&self, task: TaskId, call: &CallId) -> Result<bool, Failure> {
        let (journal, own, call) = (Arc::clone(&self.scope.engine.journal), self.scope.job.task, call.clone());
        let look_it_up = move || {
            let mut arrived = None;
            let mut look = |event: Event| match event.fact {
                Fact::MessageArrived { number, from: Sender::Task { task, .. }, call: Some(by), .. }
                    if task == own && by == call =>
                {
                    arrived = Some(number);
                }
                _ => {}
            };
            journal.read_each(task, 1, &mut look).map_err(journal_failure)?;
            let Some(number) = arrived else { return Ok(false) };
            let past = read(journal.as_ref(), task)?;
            if past.ended.is_some() && past.mail.messages.iter().any(|message| message.number == number) {
                let message = format!("{task} got the message, but was ended before it read it");
                return Err(Failure::new(FailureCode::HasEnded, message));
            }
            Ok(true)
        };
        blocking(look_it_up).await
    }

    /// True if the running task waits for an answer from this one.
    async fn is_asked_by(&self, running_task: &RunningTask) -> bool {
        let own = self.scope.job.task;
        let Some(address) = running_task.address.as_ref().filter(|_| running_task.inbox.awaits_answer_of(own)) else {
            return false;
        };
        address.hold().await.sink.task() == own
    }
}

impl StatusReader for Relatives {
    async fn glance(&self, member: RelatedTask) -> Result<Glance, Failure> {
        let RelatedTask { task, parent, agent, title, .. } = member;
        let stand = match at_work(&self.scope.engine, task).await {
            Some(running_task) => match stand_of(&running_task) {
                Stand::Works(work) => {
                    Stand::Works(Work { awaits_answer: self.is_asked_by(&running_task).await, ..work })
                }
                waits => waits,
            },
            None => match recorded_stand(&self.scope.engine, task).await? {
                Stand::Ended { outcome, .. } => Stand::Ended { outcome, unread: self.scope.inbox.mark_of(task) },
                open => open,
            },
        };
        Ok(Glance { task, parent, agent, title, stand })
    }
}
