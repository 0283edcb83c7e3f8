//! Scripted relatives with a status set by the test; they record what they were asked to do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sortie_protocol::{
    Addressee, CallId, Failure, FailureCode, ModelChoice, ReportMark, Resource, Status, TaskId, TaskOutcome,
    TaskRequest, Usage,
};
use sortie_tools::{
    AnswerParts, Answered, BoxFuture, Choice, Delegated, Delegation, Glance, Kin, Listing, Note, Receipt, ReportPage,
    Sought, Stand, Work,
};
use tokio::sync::watch;

use crate::project::Project;

#[derive(Default)]
pub(crate) struct Family {
    /// In start order.
    pub(crate) tasks: watch::Sender<Vec<Glance>>,
    pub(crate) siblings: Mutex<Vec<Glance>>,
    /// The full report of every task.
    pub(crate) report: Mutex<String>,
    /// The tasks that a stop ends.
    pub(crate) stopped: Mutex<Vec<Glance>>,
    pub(crate) receipt: Mutex<Option<Receipt>>,
    pub(crate) answer: Mutex<Option<Answered>>,
    pub(crate) notes: Mutex<Vec<Note>>,
    pub(crate) notes_are_lost: Mutex<bool>,
    done: Mutex<Vec<String>>,
    n_marks: AtomicUsize,
}

/// The id of the task with this letter.
pub(crate) fn id(letter: char) -> TaskId {
    letter.to_string().repeat(12).parse().unwrap()
}

pub(crate) fn glance(letter: char, stand: Stand) -> Glance {
    Glance { task: id(letter), parent: None, agent: "explore".to_owned(), title: format!("Piece {letter}"), stand }
}

pub(crate) fn below(parent: char, glance: Glance) -> Glance {
    Glance { parent: Some(id(parent)), ..glance }
}

pub(crate) fn works() -> Stand {
    let last = "Grep".to_owned();
    Stand::Works(Work {
        turn: 3,
        tool_calls: 12,
        tokens: 4500,
        elapsed: Duration::from_millis(41_250),
        last,
        awaits_answer: false,
    })
}

pub(crate) fn outcome(letter: char, status: Status, text: &str) -> TaskOutcome {
    TaskOutcome {
        task_id: id(letter),
        agent: "explore".to_owned(),
        status,
        reason: None,
        text: text.to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: ModelChoice { route: "main".to_owned(), id: "model".to_owned() },
        usage: Usage { input_tokens: 100, tool_calls: 2, duration_ms: 1500, ..Usage::default() },
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: None,
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    }
}

/// A task that has ended with a report that nobody has read.
pub(crate) fn ended(letter: char, text: &str) -> Glance {
    let unread = Some(mark(letter));
    glance(letter, Stand::Ended { outcome: Box::new(outcome(letter, Status::Completed, text)), unread })
}

/// A task whose report has been read.
pub(crate) fn read(letter: char, status: Status, text: &str) -> Glance {
    glance(letter, Stand::Ended { outcome: Box::new(outcome(letter, status, text)), unread: None })
}

pub(crate) fn mark(letter: char) -> ReportMark {
    ReportMark { child: id(letter), leg: 1 }
}

impl Family {
    pub(crate) fn of(tasks: Vec<Glance>) -> Arc<Self> {
        let family = Self::default();
        family.tasks.send_replace(tasks);
        Arc::new(family)
    }

    /// A project for a task among them.
    pub(crate) fn project(self: &Arc<Self>) -> Project {
        Project::new(&[]).among(self)
    }

    /// The actions since the last look.
    pub(crate) fn done(&self) -> Vec<String> {
        std::mem::take(&mut self.done.lock().unwrap())
    }

    /// Changes the status of a task.
    pub(crate) fn now(&self, glance: Glance) {
        self.tasks.send_modify(|tasks| {
            let task = tasks.iter_mut().find(|task| task.task == glance.task).unwrap();
            *task = glance;
        });
    }

    fn note_down(&self, what: String) {
        self.done.lock().unwrap().push(what);
    }

    fn find(&self, task: &str) -> Result<Glance, Failure> {
        let id: Option<TaskId> = task.parse().ok();
        let found = self.tasks.borrow().iter().find(|glance| Some(glance.task) == id).cloned();
        found.ok_or_else(|| Failure::new(FailureCode::UnknownTask, format!("there is no task `{task}` below you")))
    }
}

fn chosen(tasks: &[Glance], choice: Choice<'_>) -> Listing {
    let is_chosen = |glance: &&Glance| choice.status.is_none_or(|status| glance.stand.status() == status);
    let all: Vec<Glance> = tasks.iter().filter(is_chosen).cloned().collect();
    Listing { newest: all[all.len().saturating_sub(choice.most)..].to_vec(), n_all: all.len() }
}

impl Kin for Family {
    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>> {
        Box::pin(async move {
            self.find(task)?;
            let mut tasks = self.tasks.subscribe();
            let has_ended = |tasks: &Vec<Glance>| {
                tasks
                    .iter()
                    .any(|glance| Ok(glance.task) == task.parse() && matches!(glance.stand, Stand::Ended { .. }))
            };
            tokio::time::timeout(patience, tasks.wait_for(has_ended)).await.map(drop).ok();
            self.find(task)
        })
    }

    fn list<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move { Ok(chosen(&self.tasks.borrow(), choice)) })
    }

    fn siblings<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async move { Ok(chosen(&self.siblings.lock().unwrap(), choice)) })
    }

    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>> {
        Box::pin(async move {
            self.find(task)?;
            let report = self.report.lock().unwrap();
            let text = report.chars().skip(from).take(most).collect();
            Ok(ReportPage { text, from, whole: report.chars().count() })
        })
    }

    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>> {
        Box::pin(async move {
            self.find(task)?;
            self.note_down(format!("stop {task}"));
            Ok(self.stopped.lock().unwrap().drain(..).collect())
        })
    }

    fn send<'a>(&'a self, call: &'a CallId, to: &'a str, text: String) -> BoxFuture<'a, Result<Receipt, Failure>> {
        Box::pin(async move {
            self.note_down(format!("send {call} {to}: {text}"));
            let receipt = *self.receipt.lock().unwrap();
            receipt.ok_or_else(|| Failure::new(FailureCode::UnknownTask, "there is no such task to write to"))
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
            self.note_down(format!("ask {call} {whom:?} {patience:?}: {question}"));
            let answer = self.answer.lock().unwrap().take();
            let answered = async {
                match answer {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                }
            };
            Ok(tokio::time::timeout(patience, answered).await.ok())
        })
    }

    fn post(&self, text: String) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let mut notes = self.notes.lock().unwrap();
            let number = notes.len();
            notes.push(Note { number, task: id('m'), agent: "main".to_owned(), text });
            Ok(())
        })
    }

    fn notes(&self, sought: Sought) -> BoxFuture<'_, Result<Vec<Note>, Failure>> {
        Box::pin(async move {
            if *self.notes_are_lost.lock().unwrap() {
                return Err(Failure::new(FailureCode::Journal, "the journal cannot be read"));
            }
            // Only the engine knows what is new; here the caller has seen nothing yet.
            let is_sought = |note: &Note| match sought {
                Sought::New => note.task != id('m'),
                Sought::All => true,
                Sought::From(number) => note.number >= number,
            };
            Ok(self.notes.lock().unwrap().iter().filter(|note| is_sought(note)).cloned().collect())
        })
    }
}

impl Delegation for Family {
    fn delegate<'a>(&'a self, _: &'a CallId, _: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        unreachable!("no tool here starts a task")
    }

    fn agent_for(&self, request: &TaskRequest) -> Resource {
        let task = request.resume.as_deref().unwrap();
        let name = self.find(task).map(|glance| glance.agent);
        name.map_or(Resource::Nothing, |name| Resource::Agent { name, aliases: Vec::new() })
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        let mark = format!("mark-{}", self.n_marks.fetch_add(1, Ordering::Relaxed) + 1);
        AnswerParts { cwd: ".", spare_id: id('s'), mark }
    }
}
