//! The result cache: outcomes that are given again for the same request on the same files, if the task only read.
//!
//! The journal is the truth. The cache is an index from a key to a task, and may be lost or damaged: then the work is
//! done anew. It starts nothing and waits for nothing.

mod fit;
mod index;
mod key;
pub(crate) mod lookup;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use sortie_agents::Registry;
use sortie_contract::contract;
use sortie_journal::Journal;
use sortie_llm::Endpoint;
use sortie_protocol::{Job, TaskId, TaskOutcome};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Snapshot, SnapshotBounds};

use fit::Done;
use index::Index;
use key::Key;

use crate::ports::approval::Approvals;

/// Knows which task has answered what.
#[derive(Debug)]
pub struct ResultCache {
    index: Index,
    bounds: SnapshotBounds,
    /// Whether it was told why results are not kept here.
    is_told: AtomicBool,
}

/// What is asked before a task starts.
pub(crate) struct CacheQuery<'a> {
    pub(crate) job: &'a Job,
    /// Those that it may delegate to.
    pub(crate) agents: &'a Registry,
    /// Where its model is reached, and those of whom it may delegate to.
    pub(crate) endpoints: &'a [Endpoint],
    /// Whether a person has approved of something for the whole tree, so that its grant is not all that it may do.
    pub(crate) has_approvals: bool,
}

/// What is known of a request.
#[derive(Debug)]
pub(crate) enum CacheAnswer {
    /// The outcome of a task that did the same on the same files. It says so.
    Hit(Box<TaskOutcome>),
    /// It must be done. The ticket is for [`Cache::remember`].
    Miss(Box<CacheTicket>),
    /// It must be done, and nothing can be kept of it. The notice says why, the first time.
    Unable(Option<String>),
}

/// A request whose outcome may be worth keeping.
#[derive(Debug)]
pub(crate) struct CacheTicket {
    task: TaskId,
    /// Without the files.
    request: Key,
    key: Key,
    snapshot: Snapshot,
}

impl ResultCache {
    /// One that keeps its index in `directory`, which should hold nothing else.
    pub fn new(directory: SpillDir) -> Self {
        Self::within(directory, SnapshotBounds::default())
    }

    fn within(directory: SpillDir, bounds: SnapshotBounds) -> Self {
        Self { index: Index::new(directory), bounds, is_told: AtomicBool::new(false) }
    }

    /// Whether the request has been answered. Reads the workspace, so it blocks.
    pub(crate) fn look_up(&self, journal: &dyn Journal, workspace: &Workspace, query: &CacheQuery<'_>) -> CacheAnswer {
        // What one tree may do by a person's word, another may not.
        if query.has_approvals {
            return CacheAnswer::Unable(None);
        }
        let snapshot = match Snapshot::take(workspace, self.bounds) {
            Ok(snapshot) => snapshot,
            Err(error) => return CacheAnswer::Unable(self.once(format!("no result is kept for later: {error}"))),
        };
        let job = query.job;
        let request = Key::of_request(job);
        let key = Key::of_request_on(&request, query, &snapshot);
        let found = self.index.find(&key);
        match found.and_then(|task| fit::done(journal, task, &request, |call| snapshot.covers(workspace, call))) {
            Some(done) => CacheAnswer::Hit(Box::new(given_again(done, job))),
            None => CacheAnswer::Miss(Box::new(CacheTicket { task: job.task, request, key, snapshot })),
        }
    }

    /// Keeps the outcome of a task that has ended, if it may be given again: it is completed, it and all below it only
    /// read, nothing that it did depends on a person, and the files are as they were when it began. Returns what a
    /// person should know, once. Blocks.
    pub(crate) fn remember(
        &self,
        journal: &dyn Journal,
        workspace: &Workspace,
        ticket: &CacheTicket,
        approvals: &Approvals,
    ) -> Option<String> {
        let CacheTicket { task, request, key, snapshot } = ticket;
        let is_fit = || fit::done(journal, *task, request, |call| snapshot.covers(workspace, call)).is_some();
        let is_unchanged = || Snapshot::take(workspace, self.bounds).is_ok_and(|now| now.is_untouched_since(snapshot));
        if !approvals.is_empty() || !is_fit() || !is_unchanged() {
            return None;
        }
        let kept = self.index.put(key, *task);
        kept.err().and_then(|error| self.once(format!("no result is kept for later: {error}")))
    }

    fn once(&self, notice: String) -> Option<String> {
        (!self.is_told.swap(true, Ordering::Relaxed)).then_some(notice)
    }
}

/// A recorded outcome, as whoever asks the same again gets it.
fn given_again(Done { mut outcome, at, parent }: Done, job: &Job) -> TaskOutcome {
    for notice in &job.notices {
        if !outcome.notices.contains(notice) {
            outcome.notices.push(notice.clone());
        }
    }
    let task = outcome.task_id;
    let mut notice = format!(
        "answered from {task}, which did the same on the same files at {at}; its figures are of then, nothing was spent now"
    );
    if job.parent.is_some() && job.parent != parent && has_companions(job) {
        notice += "; its report can be read, but no call of this task can resume it or write to it";
    }
    outcome.notices.push(notice.clone());
    outcome.given_again = Some(notice);
    outcome
}

/// Whether whoever gets the outcome has tools that would reach for the task.
fn has_companions(job: &Job) -> bool {
    contract(&job.contract).is_some_and(|known| known.defaults().companions)
}
