//! Port to the tasks around the caller: those below it, its parent, its siblings.

mod alone;

pub use self::alone::Alone;

use std::time::Duration;

use sortie_protocol::{Addressee, CallId, Failure, FailureCode, ReportMark, Sender, TaskId, TaskOutcome};

use super::future::BoxFuture;
use sortie_protocol::open_status::{INTERRUPTED, RUNNING, WAITING};

/// What a task may see and do of its kin. Whom it may not reach is an error that names it, like one that does not
/// exist. Unless said otherwise there is nobody beside or above the caller, and no tree around it.
pub trait Kin: Send + Sync {
    /// Whether reports of what works in the background come to the caller by themselves.
    fn delivers(&self) -> bool {
        true
    }

    /// How a task below this one stands, once it has ended, it waits for an answer of this one, a message has come for
    /// this one, or `patience` is over.
    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>>;

    /// The tasks below this one.
    fn list<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>>;

    /// The tasks that the parent of this one has started beside it.
    fn siblings<'a>(&'a self, _choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async { Ok(Listing::default()) })
    }

    /// The whole report of a task below this one, from a character on, at most so many.
    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>>;

    /// Ends a task below this one with all below that, and waits for it: all that were stopped by this, the task first.
    /// None, if it had ended before.
    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>>;

    /// Writes to a task below this one, to `parent`, or to a sibling. It is on disk when this returns. A task below
    /// this one that has ended goes on with it, in the background.
    fn send<'a>(&'a self, call: &'a CallId, to: &'a str, text: String) -> BoxFuture<'a, Result<Receipt, Failure>>;

    /// Asks, and waits for the answer; `None` if there was none within `patience`. Who has less time left than that
    /// does not wait until it is over, which is a failure.
    fn ask<'a>(
        &'a self,
        _call: &'a CallId,
        _whom: Addressee,
        _question: String,
        _patience: Duration,
    ) -> BoxFuture<'a, Result<Option<Answered>, Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::Nobody, "there is nobody here to ask")) })
    }

    /// Lets the tasks of the whole tree read a finding.
    fn post(&self, _text: String) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::NoTree, "there is no tree of tasks here that could read it")) })
    }

    /// Findings of the whole tree, in the order of their numbers. Who looks for what is new, or for all, has looked.
    fn notes(&self, _sought: Sought) -> BoxFuture<'_, Result<Vec<Note>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Which tasks are listed.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Those that stand so, as [`Stand::status`] has it; `None` for all.
    pub status: Option<&'a str>,
    /// As many are looked at; a family may have thousands that have long ended.
    pub most: usize,
}

/// The newest tasks of a choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// In the order of their starts.
    pub newest: Vec<Glance>,
    /// Of the choice, with those that are not listed.
    pub n_all: usize,
}

/// How one task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    pub task: TaskId,
    pub parent: Option<TaskId>,
    pub agent: String,
    pub title: String,
    pub stand: Stand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stand {
    /// For a slot.
    Waits,
    Works(Work),
    /// Another process has it, for somebody else; whether that one lives cannot always be seen.
    Elsewhere {
        pid: u32,
        is_seen: bool,
    },
    /// The process that ran it is gone, and nobody has gone on with it.
    Interrupted,
    Ended {
        outcome: Box<TaskOutcome>,
        /// Set where its report lies in the caller's mail. Whoever returns the report has it marked as read.
        unread: Option<ReportMark>,
    },
}

impl Stand {
    /// Where a task stands, in one word.
    #[must_use]
    pub fn status(&self) -> String {
        match self {
            Self::Waits => WAITING.to_owned(),
            Self::Works(_) | Self::Elsewhere { .. } => RUNNING.to_owned(),
            Self::Interrupted => INTERRUPTED.to_owned(),
            Self::Ended { outcome, .. } => outcome.status.to_string(),
        }
    }
}

/// What a task that works has done so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub turn: u32,
    pub tool_calls: u64,
    pub tokens: u64,
    pub elapsed: Duration,
    /// What it did last, in a few words.
    pub last: String,
    /// It has asked the caller something, and has no answer.
    pub awaits_answer: bool,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPage {
    pub text: String,
    pub from: usize,
    /// Characters of the whole.
    pub whole: usize,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// The task reads it at its next turn. Should it end without one, its outcome says so.
    Delivered { task: TaskId },
    /// The task had ended, or was interrupted; it goes on with it, and its report comes with the mail.
    Resumed { task: TaskId },
}

/// An answer, and which message of the mail it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub text: String,
    /// Who has given it: also a question to the parent may be answered by a person.
    pub from: Sender,
    /// `None` where a person has answered at once.
    pub message: Option<u32>,
}

/// Which findings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// What others have posted since the caller looked last.
    New,
    /// All that are remembered.
    All,
    /// Of those, the ones from this number on.
    From(usize),
}

/// A finding of some task of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How many were posted before it.
    pub number: usize,
    pub task: TaskId,
    pub agent: String,
    pub text: String,
}
