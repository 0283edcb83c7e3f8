//! Port to the tasks around the caller: its children, its parent, its siblings.

mod alone;

pub use self::alone::Alone;

use std::time::Duration;

use sortie_protocol::{Addressee, CallId, Failure, FailureCode, ReportMark, Sender, TaskId, TaskOutcome};

use super::future::BoxFuture;
use sortie_protocol::open_status::{INTERRUPTED, RUNNING, WAITING};

/// The caller's access to its relatives. A task out of reach is an error that names it, as if it did not exist. By
/// default the caller has no parent, no siblings and no tree.
pub trait Kin: Send + Sync {
    /// Name of a companion tool as the caller knows it.
    fn name_of<'a>(&self, tool: &'a str) -> &'a str {
        tool
    }

    /// True if reports of background tasks are delivered to the caller.
    fn delivers(&self) -> bool {
        true
    }

    /// Returns the status of a task below this one. Waits until that task has ended or asks this one a question, a
    /// message for this one arrives, or `patience` is over.
    fn look<'a>(&'a self, task: &'a str, patience: Duration) -> BoxFuture<'a, Result<Glance, Failure>>;

    /// The tasks below this one.
    fn list<'a>(&'a self, choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>>;

    /// The other tasks that this one's parent has started.
    fn siblings<'a>(&'a self, _choice: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async { Ok(Listing::default()) })
    }

    /// Returns a page of the full report of a task below this one: at most `most` characters from `from` on.
    fn page<'a>(&'a self, task: &'a str, from: usize, most: usize) -> BoxFuture<'a, Result<ReportPage, Failure>>;

    /// Stops a task below this one with all its descendants, and waits for that. Returns the tasks it stopped, this
    /// task first; empty if it had ended before.
    fn stop<'a>(&'a self, task: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>>;

    /// Writes to a task below this one, to `parent`, or to a sibling. The message is on disk when this returns. A task
    /// below this one that has ended resumes with it, in the background.
    fn send<'a>(&'a self, call: &'a CallId, to: &'a str, text: String) -> BoxFuture<'a, Result<Receipt, Failure>>;

    /// Asks, and waits for the answer; `None` if none arrives within `patience`. If the caller's own time is shorter,
    /// it stops waiting earlier and gets a failure.
    fn ask<'a>(
        &'a self,
        _call: &'a CallId,
        _whom: Addressee,
        _question: String,
        _patience: Duration,
    ) -> BoxFuture<'a, Result<Option<Answered>, Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::Nobody, "there is nobody here to ask")) })
    }

    /// Posts a finding that all tasks of the tree can read.
    fn post(&self, _text: String) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async { Err(Failure::new(FailureCode::NoTree, "there are no other tasks here that could read it")) })
    }

    /// Returns findings of the whole tree, in number order. Reading `New` or `All` marks the notes as read.
    fn notes(&self, _sought: Sought) -> BoxFuture<'_, Result<Vec<Note>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Selection of tasks to list.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Only tasks with this [`Stand::status`]; `None` for all.
    pub status: Option<&'a str>,
    /// Maximum number of tasks to list; a family may have thousands that have long ended.
    pub most: usize,
}

/// The newest of the selected tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// In start order.
    pub newest: Vec<Glance>,
    /// Number of all selected tasks, listed or not.
    pub n_all: usize,
}

/// The status of one task.
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
    /// Waits for a slot.
    Waits,
    Works(Work),
    /// Run by another process for somebody else. Its survival cannot always be detected.
    Elsewhere {
        pid: u32,
        is_seen: bool,
    },
    /// The process that ran it is gone, and nobody has resumed it.
    Interrupted,
    Ended {
        outcome: Box<TaskOutcome>,
        /// Set if its report is in the caller's mail. A caller that returns the report marks it as read.
        unread: Option<ReportMark>,
    },
}

impl Stand {
    /// The status in one word.
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

/// Progress of a working task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub turn: u32,
    pub tool_calls: u64,
    pub tokens: u64,
    pub elapsed: Duration,
    /// Its latest activity, in a few words.
    pub last: String,
    /// True if it has asked the caller something and has no answer yet.
    pub awaits_answer: bool,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPage {
    pub text: String,
    pub from: usize,
    /// Length of the whole report in characters.
    pub whole: usize,
}

/// The fate of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// The task reads it at its next turn. If it ends without one, its outcome says so.
    Delivered { task: TaskId },
    /// The task had ended or was interrupted. It resumes with the message, and its report arrives with the mail.
    Resumed { task: TaskId },
}

/// An answer, and its position in the mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub text: String,
    /// The author: a person may also answer a question to the parent.
    pub from: Sender,
    /// `None` if a person answered at once.
    pub message: Option<u32>,
}

/// Selection of findings to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// Findings posted by others since the caller last looked.
    New,
    /// All findings still kept.
    All,
    /// Findings from this number on.
    From(usize),
}

/// A finding of some task of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Number of findings posted before it.
    pub number: usize,
    pub task: TaskId,
    pub agent: String,
    pub text: String,
}
