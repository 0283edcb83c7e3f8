//! The result cache: reuses outcomes for the same request on the same files, if the task only read.
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

/// Index of tasks by request.
#[derive(Debug)]
pub struct ResultCache {
    index: Index,
    bounds: SnapshotBounds,
    /// True if the notice about the disabled cache was given.
    is_told: AtomicBool,
}

/// Query before a task starts.
pub(crate) struct CacheQuery<'a> {
    pub(crate) job: &'a Job,
    /// Agents that it may delegate to.
    pub(crate) agents: &'a Registry,
    /// Endpoints of its model and of the models it may delegate to.
    pub(crate) endpoints: &'a [Endpoint],
    /// True if a person has approved something for the whole tree, which then is allowed beyond the grant.
    pub(crate) has_approvals: bool,
}

/// Result of a query.
#[derive(Debug)]
pub(crate) enum CacheAnswer {
    /// The outcome of a task that did the same on the same files, with a notice that says so.
    Hit(Box<TaskOutcome>),
    /// Not in the cache. The ticket is for [`ResultCache::remember`].
    Miss(Box<CacheTicket>),
    /// Not in the cache, and cannot be added. The notice says why, the first time.
    Unable(Option<String>),
}

/// A request whose outcome may be worth keeping.
#[derive(Debug)]
pub(crate) struct CacheTicket {
    task: TaskId,
    /// Key without the files.
    request: Key,
    key: Key,
    snapshot: Snapshot,
}

impl ResultCache {
    /// Creates a cache with its index in `directory`, which should hold nothing else.
    pub fn new(directory: SpillDir) -> Self {
        Self::within(directory, SnapshotBounds::default())
    }

    fn within(directory: SpillDir, bounds: SnapshotBounds) -> Self {
        Self { index: Index::new(directory), bounds, is_told: AtomicBool::new(false) }
    }

    /// Looks the request up. Reads the workspace, so it blocks.
    pub(crate) fn look_up(&self, journal: &dyn Journal, workspace: &Workspace, query: &CacheQuery<'_>) -> CacheAnswer {
        // A person's approval in one tree does not hold in another.
        if query.has_approvals {
            return CacheAnswer::Unable(None);
        }
        let snapshot = match Snapshot::take(workspace, self.bounds) {
            Ok(snapshot) => snapshot,
            Err(error) => return CacheAnswer::Unable(self.once(format!("results are not cached: {error}"))),
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

    /// Keeps the outcome of an ended task, if it can be reused. The task is completed, its whole tree only read,
    /// nothing depended on a person, and the files are unchanged. Returns a notice for people, once. Blocks.
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
        kept.err().and_then(|error| self.once(format!("results are not cached: {error}")))
    }

    fn once(&self, notice: String) -> Option<String> {
        (!self.is_told.swap(true, Ordering::Relaxed)).then_some(notice)
    }
}

/// Returns a recorded outcome for the same request made again.
fn given_again(Done { mut outcome, at, parent }: Done, job: &Job) -> TaskOutcome {
    for notice in &job.notices {
        if !outcome.notices.contains(notice) {
            outcome.notices.push(notice.clone());
        }
    }
    let task = outcome.task_id;
    let mut notice = format!(
        "answered from {task}, which did the same on the same files at {at}; its figures are from then; nothing was spent now"
    );
    if job.parent.is_some() && job.parent != parent && has_companions(job) {
        notice += "; its report can be read, but no call of this task can resume it or write to it";
    }
    outcome.notices.push(notice.clone());
    outcome.given_again = Some(notice);
    outcome
}

/// Returns true if the requester has tools that could reach for the task.
fn has_companions(job: &Job) -> bool {
    contract(&job.contract).is_some_and(|known| known.defaults().companions.allow_background())
}
