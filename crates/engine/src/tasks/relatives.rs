//! What a task can see and do of the tasks around it. Only its own tree is there for it: below it, one above it, and those
//! beside it.

mod given;
mod reach;
mod stand;
mod wait;

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use sortie_crash::point;
use sortie_journal::TaskState;
use sortie_protocol::{Addressee, CallId, Event, Fact, Failure, FailureCode, Job, Sender, TaskId, TaskRequest};
use sortie_tools::{
    Answered, BoxFuture, Choice, Delegated, Delegation as _, Glance, Kin, Listing, Note, Receipt, ReportPage, Sought,
    Stand,
};

pub(crate) use self::reach::Member;
pub(crate) use self::stand::{END_WITHIN, Onlooker, listing, not_ended};
use self::wait::Wait;
use crate::conversation::load_task::read;
use crate::messages::questions::{ASK, Asker};
use crate::messages::running_task::{Courier, Resident, SILENT, Stopper};
use crate::ports::approval::Inquiry;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::ports::hooks::Asking;
use crate::tasks::delegate::Delegate;
use crate::tasks::follow_up::is_own;

/// What whoever asks the person is told whose turn does not come in time.
const OVERTAKEN: &str = "your question was never shown to anyone: others were asked before it, and there is little time left; \
                         go on by your best judgement, and say in your report what you assumed";

/// The same, of one that asks with too little time left.
const TOO_LATE: &str = "your question was never shown to anyone: there is too little time left for an answer; go on by your \
                        best judgement, and say in your report what you assumed";

impl Kin for Delegate {
    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>> {
        Box::pin(async move {
            let member = match self.below(task).await {
                // It has ended before this task asked.
                Err(none) if none.code == FailureCode::NoSuchTask => return self.given(task).await.map(Glance::from),
                member => member?,
            };
            if let Some(resident) = self.engine.present.find(member.task) {
                let something_else = self.inbox.message(|_| true);
                let over = async {
                    tokio::select! {
                        biased;
                        () = resident.over.cancelled() => {}
                        // It may be a question of just the one that is waited for.
                        _ = something_else => {}
                    }
                };
                // One whose question has been read would be waited for in vain.
                if !self.is_asked_by(&resident).await {
                    tokio::time::timeout(patience, over).await.ok();
                }
            }
            self.glance(self.below(task).await?).await
        })
    }

    fn list<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move {
            let mut members = self.tree(self.parent.task).await?;
            members.retain(|member| member.task != self.parent.task);
            listing(self, members, choice).await
        })
    }

    fn siblings<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move {
            let Some(parent) = self.parent.parent else { return Ok(Listing::default()) };
            let mut members = self.tree(parent).await?;
            members.retain(|member| member.parent == Some(parent) && member.task != self.parent.task);
            listing(self, members, choice).await
        })
    }

    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>> {
        Box::pin(async move {
            match self.below(task).await {
                Ok(member) => self.engine.report_page(member.task, from, most).await,
                Err(none) if none.code == FailureCode::NoSuchTask => {
                    self.engine.page_of(*self.given(task).await?.outcome, from, most).await
                }
                Err(failure) => Err(failure),
            }
        })
    }

    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>> {
        Box::pin(async move {
            let task = self.below(task).await?.task;
            let stopped = self.engine.end_all(task, &self.tree(task).await?, Stopper::Task(self.parent.task)).await?;
            let mut glances = Vec::new();
            for resident in stopped {
                glances.push(self.glance(self.recorded(resident.job.task).await?).await?);
            }
            Ok(glances)
        })
    }

    fn send<'a>(&'a self, call: &'a CallId, to: &'a str, text: String) -> BoxFuture<'a, Result<Receipt, Failure>> {
        Box::pin(async move {
            if let Some(attached) = self.attached.get(call) {
                // It goes on with these words since before a crash.
                return Ok(Receipt::Resumed { task: attached.child });
            }
            let Member { task, parent, state, .. } = self.in_reach(to).await?;
            if self.begun.contains(call) && self.has_arrived(task, call).await? {
                return Ok(Receipt::Delivered { task });
            }
            let from = Sender::Task { task: self.parent.task, agent: self.parent.config.agent.clone() };
            let resident = self.engine.present.find(task);
            if let Some(resident) = &resident
                && resident.write((from, text.clone()), Courier::Call(call.clone())).await.map_err(journal_failure)?
            {
                return Ok(Receipt::Delivered { task });
            }
            resident.as_deref().map_or(Ok(()), Resident::refuse_when_stopping)?;
            let (journal, own) = (Arc::clone(&self.engine.journal), self.parent.task);
            if !blocking(move || is_own(journal.as_ref(), own, (task, parent))).await? {
                let is_over = resident.is_some() || matches!(state, TaskState::Ended(_));
                let how = if is_over { "has ended" } else { "is not at work here" };
                let message = format!("{task} {how}; only the task that has it can have it go on");
                return Err(Failure::new(FailureCode::HasEnded, message));
            }
            if let Some(resident) = resident {
                // It has read its last message; soon it has ended.
                resident.over.cancelled().await;
            }
            self.engine.rules.check_resume()?;
            if !self.engine.rules.background {
                let message = format!(
                    "{task} has ended, and nothing works in the background here (`task_tool.background`); it goes on with a \
                     call of {} whose `resume` is its id",
                    self.engine.contract.tool_name()
                );
                return Err(Failure::new(FailureCode::BackgroundOff, message));
            }
            let request = TaskRequest {
                prompt: text,
                resume: Some(task.to_string()),
                background: true,
                ..TaskRequest::default()
            };
            match self.delegate(call, request).await? {
                Delegated::Launched(_) | Delegated::Ended(_) => Ok(Receipt::Resumed { task }),
            }
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
            let _asker = Asker { inbox: &self.inbox, call };
            self.inbox.may_ask(call).await;
            if !self.inbox.is_put(call) {
                self.put_question(call, whom, &question).await?;
            }
            let above: Vec<TaskId> = self.parent.parent.into_iter().chain(self.above_now().await).collect();
            let answered_elsewhere = OnceLock::new();
            let by_mail = async {
                let message = self.inbox.answer(call, &above).await;
                answered_elsewhere.get_or_init(|| ());
                Answered { text: message.text, from: message.from, message: Some(message.number) }
            };
            let by_hand = async {
                match whom {
                    Addressee::Person => self.ask_person((call, &question, &answered_elsewhere), patience).await,
                    Addressee::Parent => {
                        self.inbox.has_asked(call);
                        self.wait_for_parent(patience).await
                    }
                }
            };
            tokio::select! {
                biased;
                // First: it may be the last that its parent says.
                answer = by_mail => Ok(Some(answer)),
                answer = by_hand => answer,
            }
        })
    }

    fn post(&self, text: String) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            // On disk: that is where it is read.
            self.sink.append_synced(Fact::NotePosted { text }).await.map_err(journal_failure)?;
            point("note.posted");
            Ok(())
        })
    }

    fn notes(&self, sought: Sought) -> BoxFuture<'_, Result<Vec<Note>, Failure>> {
        Box::pin(async move {
            let (journal, root, reader) = (Arc::clone(&self.engine.journal), self.parent.root, self.parent.task);
            let board = self.engine.boards.of(root);
            blocking(move || board.look(journal.as_ref(), (root, reader), sought)).await
        })
    }
}

impl Delegate {
    /// Records the question, together with its delivery.
    async fn put_question(&self, call: &CallId, whom: Addressee, question: &str) -> Result<(), Failure> {
        let (call, text) = (call.clone(), question.to_owned());
        if whom == Addressee::Person {
            if !self.engine.permissions.approver.is_present() {
                let message = "there is nobody to ask; go on by your best judgement, and say what you assumed";
                return Err(Failure::new(FailureCode::Nobody, message));
            }
            let asking = self.inbox.asking().await;
            let fact = Fact::QuestionAsked { call: call.clone(), to: whom, text: text.clone() };
            self.sink.append_synced(fact).await.map_err(journal_failure)?;
            asking.put(call, whom, text);
            return Ok(());
        }
        let own = self.engine.present.find(self.parent.task);
        let own = own.ok_or_else(|| Failure::new(FailureCode::OwnTask, "this task is not at work any more"))?;
        own.ask_above(call, text).await
    }

    /// Whether a message has reached a task by a call of this one, before that was broken off. One that was ended before it
    /// read it is a failure.
    async fn has_arrived(&self, task: TaskId, call: &CallId) -> Result<bool, Failure> {
        let (journal, own, call) = (Arc::clone(&self.engine.journal), self.parent.task, call.clone());
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
            if past.ended.is_some() && past.messages.iter().any(|message| message.number == number) {
                let message = format!("{task} had the message, and was ended before it read it");
                return Err(Failure::new(FailureCode::HasEnded, message));
            }
            Ok(true)
        };
        blocking(look_it_up).await
    }

    /// Waits as long as the parent may answer; one that no longer can is a failure.
    async fn wait_for_parent(&self, patience: Duration) -> Result<Option<Answered>, Failure> {
        let wait = Wait::begin(self.deadline.time_to_ask(), patience);
        let silence = async {
            loop {
                let changed = self.inbox.change();
                let Some(above) = self.inbox_above().await else { return std::future::pending().await };
                tokio::select! {
                    () = above.silence() => return,
                    // Another one may have it now.
                    () = changed => {}
                }
            }
        };
        tokio::select! {
            () = wait.runs_out() => wait.no_answer(),
            () = silence => Err(Failure::new(FailureCode::Nobody, SILENT)),
        }
    }

    /// What the person at the terminal answers, within the patience that begins when the question is shown; then it is
    /// the next one's turn.
    async fn ask_person(
        &self,
        (call, question, answered): (&CallId, &str, &OnceLock<()>),
        patience: Duration,
    ) -> Result<Option<Answered>, Failure> {
        let mut turn = pin!(self.engine.desk.turn());
        let at_once = turn.as_mut().now_or_never();
        // The next one of this task stands behind it.
        self.inbox.has_asked(call);
        let time = self.deadline.time_to_ask();
        if !time.is_enough() {
            return Err(Failure::new(FailureCode::NoAnswer, TOO_LATE));
        }
        let turn = if let Some(turn) = at_once {
            turn
        } else {
            tokio::select! {
                biased;
                () = time.passes(None) => return Err(Failure::new(FailureCode::NoAnswer, OVERTAKEN)),
                turn = turn => turn,
            }
        };
        if !time.is_enough() {
            return Err(Failure::new(FailureCode::NoAnswer, OVERTAKEN));
        }
        let wait = Wait::begin(time, patience);
        let ground = "the agent asks";
        let arguments = serde_json::json!({"question": question}).to_string();
        let asking = Asking { tool: ASK, arguments: &arguments, rules: &[], ground };
        self.engine.hooks.asks(&self.parent, &asking);
        let Job { task, title, config, .. } = self.parent.as_ref();
        let inquiry = Inquiry { task: *task, title, chain: &config.chain, question, within: wait.within(), answered };
        let answer = tokio::select! {
            biased;
            answer = self.engine.permissions.approver.inquire(&inquiry) => answer,
            () = wait.runs_out() => None,
        };
        drop(turn);
        if let Some(text) = answer {
            return Ok(Some(Answered { text, from: Sender::Person, message: None }));
        }
        // Nobody answers here; somebody may elsewhere.
        wait.runs_out().await;
        wait.no_answer()
    }

    /// Whether another one waits for an answer of this task, and has none.
    async fn is_asked_by(&self, resident: &Resident) -> bool {
        let own = self.parent.task;
        let Some(address) = resident.address.as_ref().filter(|_| resident.inbox.awaits_answer_of(own)) else {
            return false;
        };
        address.hold().await.sink.task() == own
    }
}

impl Onlooker for Delegate {
    async fn glance(&self, member: Member) -> Result<Glance, Failure> {
        let Member { task, parent, agent, title, .. } = member;
        let stand = match self.engine.at_work(task).await {
            Some(resident) => resident.stand(self.is_asked_by(&resident).await),
            None => match self.engine.recorded_stand(task).await? {
                Stand::Ended { outcome, .. } => Stand::Ended { outcome, unread: self.inbox.mark_of(task) },
                open => open,
            },
        };
        Ok(Glance { task, parent, agent, title, stand })
    }
}
