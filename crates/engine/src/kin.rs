//! What a task can see and do of the tasks around it. Only its own tree is there for it: below it, one above it, and those
//! beside it.

use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{TaskHeader, TaskState};
use sortie_protocol::{Addressee, CallId, Fact, Failure, Job, Sender, TaskId, TaskRequest};
use sortie_tools::{
    Answered, BoxFuture, Delegated, Delegation as _, Glance, Kin, Note, Receipt, ReportPage, Stand, Work,
};
use tokio::time::Instant;

use crate::approval::Inquiry;
use crate::blocking::blocking;
use crate::board::Board;
use crate::delegate::Delegate;
use crate::hooks::Asking;
use crate::question::{Asker, OpenQuestion};
use crate::remember::journal_failure;
use crate::resident::Resident;
use crate::turn::until;

/// How long a task may take to end when it is told to.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Of a report that is read in pages.
const MAX_REPORT_BYTES: u64 = 64 << 20;

impl Kin for Delegate {
    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>> {
        Box::pin(async move {
            let header = self.below(task).await?;
            if let Some(resident) = self.engine.present.find(header.task_id) {
                let something_else = self.inbox.message(|_| true);
                let over = async {
                    tokio::select! {
                        biased;
                        () = resident.over.cancelled() => {}
                        // It may be a question of just the one that is waited for.
                        _ = something_else => {}
                    }
                };
                tokio::time::timeout(patience, over).await.ok();
            }
            self.glance(self.below(task).await?).await
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Glance>, Failure>> {
        Box::pin(async move {
            let mut glances = Vec::new();
            for header in self.all_below().await? {
                glances.push(self.glance(header).await?);
            }
            Ok(glances)
        })
    }

    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>> {
        Box::pin(async move {
            let task = self.below(task).await?.task_id;
            let (journal, reports) = (Arc::clone(&self.engine.journal), Arc::clone(&self.engine.reports));
            let read = move || {
                let Some(outcome) = journal.ending(task).map_err(journal_failure)? else {
                    return Err(Failure::new("no_report", format!("{task} has not ended: it has no report yet")));
                };
                let Some(path) = outcome.full_text_path.filter(|_| outcome.truncated) else { return Ok(outcome.text) };
                let gone =
                    |why: String| Failure::new("no_report", format!("the whole report of {task} is gone: {why}"));
                let name = path.rsplit('/').next().unwrap_or_default();
                let whole = reports.recall(name, MAX_REPORT_BYTES).map_err(|error| gone(error.to_string()))?;
                let whole = whole.ok_or_else(|| gone(format!("{path} does not exist")))?;
                Ok(String::from_utf8_lossy(&whole).into_owned())
            };
            let whole = blocking(read).await?;
            let text = whole.chars().skip(from).take(most).collect();
            Ok(ReportPage { text, from, whole: whole.chars().count() })
        })
    }

    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>> {
        Box::pin(async move {
            let task = self.below(task).await?.task_id;
            let at_work = |tree: Vec<TaskHeader>| -> Vec<Arc<Resident>> {
                tree.iter().filter_map(|header| self.engine.present.find(header.task_id)).collect()
            };
            let stopped = at_work(self.tree(task).await?);
            // One that has failed no longer stops what it had started.
            for resident in &stopped {
                resident.cancel.cancel();
            }
            let all_over = async {
                for resident in &stopped {
                    resident.over.cancelled().await;
                }
            };
            if tokio::time::timeout(END_WITHIN, all_over).await.is_err() {
                let message = format!("{task} was told to stop, and has not ended within {} s", END_WITHIN.as_secs());
                return Err(Failure::new("still_running", message));
            }
            let mut glances = Vec::new();
            for resident in stopped {
                glances.push(self.glance(self.header(resident.job.task).await?).await?);
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
            let header = self.in_reach(to).await?;
            let (task, is_own) = (header.task_id, header.parent_id == Some(self.parent.task));
            let from = Sender::Task { task: self.parent.task, agent: self.parent.config.agent.clone() };
            if let Some(resident) = self.engine.present.find(task) {
                if resident.write((from, text.clone()), None).await.map_err(journal_failure)? {
                    return Ok(Receipt::Delivered { task });
                }
                if is_own {
                    // It has read its last message; soon it has ended.
                    resident.over.cancelled().await;
                }
            }
            if !is_own {
                let message = format!("{task} has ended; only the task that started it can have it go on");
                return Err(Failure::new("has_ended", message));
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
            if !self.inbox.is_put(call) {
                self.put_question(call, whom, &question).await?;
            }
            let above: Vec<TaskId> = self.parent.parent.into_iter().chain(self.above_now().await).collect();
            let by_mail = async {
                let message = self.inbox.answer(call, &above).await;
                Answered { text: message.text, from: message.from, message: Some(message.number) }
            };
            let within = self.time_to_ask(patience);
            let latest = self.deadline.map(|_| Instant::now() + self.time_to_ask(Duration::MAX));
            let by_hand = async {
                match whom {
                    Addressee::Person => self.ask_person(&question, patience).await,
                    Addressee::Parent => {
                        tokio::time::sleep(within).await;
                        None
                    }
                }
            };
            let answered = tokio::select! {
                answer = by_mail => Some(answer),
                answer = by_hand => answer,
                () = until(latest) => None,
            };
            match answered {
                Some(answered) => Ok(Some(answered)),
                None if within < patience => {
                    let message = format!(
                        "no answer within {} s, and there is little time left; go on by your best judgement, and say in \
                         your report what you assumed",
                        within.as_secs()
                    );
                    Err(Failure::new("no_answer", message))
                }
                None => Ok(None),
            }
        })
    }

    fn post(&self, text: String) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let note = Note { task: self.parent.task, agent: self.parent.config.agent.clone(), text: text.clone() };
            // First the board, lest it is read from a log that has this note already.
            let board = self.board().await?;
            self.sink.append(Fact::NotePosted { text }).await.map_err(journal_failure)?;
            board.add(note);
            Ok(())
        })
    }

    fn notes(&self, most: usize) -> BoxFuture<'_, Result<Vec<Note>, Failure>> {
        Box::pin(async move { Ok(self.board().await?.newest(most)) })
    }
}

impl Delegate {
    /// Records the question, together with its delivery.
    async fn put_question(&self, call: &CallId, whom: Addressee, question: &str) -> Result<(), Failure> {
        let asked_at = self.inbox.numbered();
        let question = OpenQuestion { call: call.clone(), to: whom, text: question.to_owned(), asked_at };
        if whom == Addressee::Person {
            if !self.engine.permissions.approver.is_present() {
                let message = "there is nobody to ask; go on by your best judgement, and say what you assumed";
                return Err(Failure::new("nobody", message));
            }
            self.sink.append_synced(question.fact()).await.map_err(journal_failure)?;
            self.inbox.put_question(question);
            return Ok(());
        }
        let own = self.engine.present.find(self.parent.task);
        let own = own.ok_or_else(|| Failure::new("own_task", "this task is not at work any more"))?;
        own.ask_above(question).await
    }

    /// How long an answer is waited for: whoever gets none must have time to go on without.
    fn time_to_ask(&self, patience: Duration) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()) * 3 / 4);
        left.map_or(patience, |left| left.min(patience))
    }

    /// The task above this one: its parent, or who has it since that one failed.
    async fn above_now(&self) -> Option<TaskId> {
        let own = self.engine.present.find(self.parent.task)?;
        Some(own.address.as_ref()?.hold().await.sink.task())
    }

    /// What the person at the terminal answers, within the patience that begins when the question is shown; then it is
    /// the next one's turn.
    async fn ask_person(&self, question: &str, patience: Duration) -> Option<Answered> {
        let turn = self.engine.desk.turn().await;
        let within = self.time_to_ask(patience);
        let patience_is_over = tokio::time::sleep(within);
        let ground = "the agent asks";
        let asking = Asking { tool: "Ask", arguments: question, rules: &[], ground };
        self.engine.hooks.asks(&self.parent, &asking);
        let Job { task, title, config, .. } = self.parent.as_ref();
        let inquiry = Inquiry { task: *task, title, chain: &config.chain, question, within };
        let answer = tokio::time::timeout(within, self.engine.permissions.approver.inquire(&inquiry)).await;
        drop(turn);
        match answer {
            Ok(Some(text)) => Some(Answered { text, from: Sender::Person, message: None }),
            // Nobody answers here; somebody may elsewhere.
            Ok(None) => {
                patience_is_over.await;
                None
            }
            Err(_) => None,
        }
    }

    async fn board(&self) -> Result<Arc<Board>, Failure> {
        let root = self.parent.root;
        if let Some(board) = self.engine.boards.get(root) {
            return Ok(board);
        }
        let journal = Arc::clone(&self.engine.journal);
        let board = blocking(move || Board::read(journal.as_ref(), root)).await?;
        Ok(self.engine.boards.put_up(root, board))
    }

    async fn glance(&self, header: TaskHeader) -> Result<Glance, Failure> {
        let TaskHeader { task_id: task, parent_id: parent, agent, title, mut state, .. } = header;
        let resident = self.engine.present.find(task);
        if resident.is_none() && state == TaskState::Running {
            // It has ended since.
            state = self.header(task).await?.state;
        }
        let stand = match (resident, state) {
            (Some(resident), TaskState::Running) => stand_of(&resident),
            (None, TaskState::Running | TaskState::Interrupted) | (Some(_), TaskState::Interrupted) => {
                Stand::Interrupted
            }
            (_, TaskState::Ended(_)) => {
                let journal = Arc::clone(&self.engine.journal);
                let ending = blocking(move || journal.ending(task).map_err(journal_failure)).await?;
                let missing = || Failure::new("journal", format!("the ending of {task} is missing"));
                Stand::Ended { outcome: Box::new(ending.ok_or_else(missing)?), unread: self.inbox.mark_of(task) }
            }
        };
        Ok(Glance { task, parent, agent, title, stand })
    }

    /// A task below this one.
    async fn below(&self, asked: &str) -> Result<TaskHeader, Failure> {
        let (header, line) = self.lineage(asked).await?;
        let is_below = line.contains(&self.parent.task);
        if is_below { Ok(header) } else { Err(unknown(asked)) }
    }

    /// A task that may be written to: below this one, above it, or beside it.
    async fn in_reach(&self, to: &str) -> Result<TaskHeader, Failure> {
        let own_parent = self.above_now().await;
        if to.trim().eq_ignore_ascii_case("parent") {
            let nobody = || Failure::new("nobody", "no task is above this one");
            return self.header(own_parent.ok_or_else(nobody)?).await;
        }
        let (header, line) = self.lineage(to).await?;
        let is_parent = [own_parent, self.parent.parent].contains(&Some(header.task_id));
        let is_sibling = header.parent_id.is_some() && header.parent_id == self.parent.parent;
        if header.task_id == self.parent.task {
            return Err(Failure::new("own_task", "that is this task itself"));
        }
        if is_parent || is_sibling || line.contains(&self.parent.task) { Ok(header) } else { Err(unknown(to)) }
    }

    /// A task by the beginning of its id, and all that are above it.
    async fn lineage(&self, asked: &str) -> Result<(TaskHeader, Vec<TaskId>), Failure> {
        let (journal, asked, root) = (Arc::clone(&self.engine.journal), asked.trim().to_owned(), self.parent.root);
        let read = move || {
            let mut found = journal.find(&asked).map_err(journal_failure)?;
            found.retain(|header| header.root_id == root);
            let header = match found.len() {
                1 => found.remove(0),
                0 => return Err(unknown(&asked)),
                _ => return Err(Failure::new("ambiguous_task", format!("`{asked}` begins the ids of several tasks"))),
            };
            let mut line = Vec::new();
            let mut next = header.parent_id;
            while let Some(above) = next {
                line.push(above);
                next = journal.find(above.letters()).map_err(journal_failure)?.pop().and_then(|above| above.parent_id);
            }
            Ok((header, line))
        };
        blocking(read).await
    }

    async fn header(&self, task: TaskId) -> Result<TaskHeader, Failure> {
        let journal = Arc::clone(&self.engine.journal);
        let found = blocking(move || journal.find(task.letters()).map_err(journal_failure)).await?.pop();
        found.ok_or_else(|| unknown(&task.to_string()))
    }

    async fn tree(&self, task: TaskId) -> Result<Vec<TaskHeader>, Failure> {
        let journal = Arc::clone(&self.engine.journal);
        blocking(move || journal.tree(task).map_err(journal_failure)).await
    }

    async fn all_below(&self) -> Result<Vec<TaskHeader>, Failure> {
        let mut tree = self.tree(self.parent.task).await?;
        tree.remove(0);
        Ok(tree)
    }
}

fn stand_of(resident: &Resident) -> Stand {
    let lately = resident.sink.lately();
    let glimpse = lately.glimpse();
    if !glimpse.admitted {
        return Stand::Waits;
    }
    let spent = resident.account.spent();
    Stand::Works(Work {
        turn: glimpse.turn,
        tool_calls: spent.tool_calls,
        tokens: spent.total_tokens(),
        elapsed: lately.since.elapsed(),
        last: glimpse.last,
    })
}

fn unknown(asked: &str) -> Failure {
    Failure::new("no_such_task", format!("there is no task `{asked}` below this one"))
}
