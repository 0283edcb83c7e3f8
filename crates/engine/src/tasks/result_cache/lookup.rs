//! Lookup in the result cache before a delegated task starts, and the entry after it has ended.

use std::sync::Arc;

use sortie_contract::given_again;
use sortie_protocol::TaskOutcome;

use crate::messages::report_cap::leave_room;
use crate::ports::approval::Approvals;
use crate::tasks::result_cache::{CacheAnswer, CacheQuery, CacheTicket};
use crate::tasks::state::EngineState;
use crate::tasks::task::Task;

/// Result of the lookup.
pub(crate) enum CachedOrNew {
    /// Another task has done the same on the same files.
    Done(Box<TaskOutcome>),
    /// It must be done; with a ticket, its outcome may be worth keeping.
    New(Option<Box<CacheTicket>>),
}

/// Looks for a reusable outcome, if there is a cache.
pub(crate) async fn known(engine: &EngineState, task: &mut Task) -> CachedOrNew {
    let Some(cache) = engine.cache.clone() else { return CachedOrNew::New(None) };
    let (journal, workspace) = (Arc::clone(&engine.journal), Arc::clone(&engine.workspace));
    let (job, roster, has_approvals) = (Arc::clone(&task.job), Arc::clone(&task.roster), !task.approvals.is_empty());
    let endpoints = engine.models.endpoints();
    let look = move || {
        let query = CacheQuery { job: &job, agents: &roster.agents, endpoints: &endpoints, has_approvals };
        cache.look_up(journal.as_ref(), &workspace, &query)
    };
    match tokio::task::spawn_blocking(look).await {
        Ok(CacheAnswer::Hit(mut outcome)) => {
            leave_room(&mut outcome, &task.job, engine.contract.as_ref(), &engine.reports).await;
            CachedOrNew::Done(outcome)
        }
        Ok(CacheAnswer::Miss(ticket)) => CachedOrNew::New(Some(ticket)),
        Ok(CacheAnswer::Unable(notice)) => {
            if let Some(text) = notice {
                task.notice(text);
            }
            CachedOrNew::New(None)
        }
        Err(_panicked) => CachedOrNew::New(None),
    }
}

/// Keeps the outcome of an ended task, if it can be reused.
pub(crate) async fn keep(engine: &EngineState, ticket: Option<Box<CacheTicket>>, approvals: &Arc<Approvals>) {
    let (Some(cache), Some(ticket)) = (engine.cache.clone(), ticket) else { return };
    let (journal, workspace) = (Arc::clone(&engine.journal), Arc::clone(&engine.workspace));
    let approvals = Arc::clone(approvals);
    let keep = move || cache.remember(journal.as_ref(), &workspace, &ticket, &approvals);
    // The lookup has already reported a broken cache.
    tokio::task::spawn_blocking(keep).await.ok();
}

/// Returns the notice of a reused outcome that names its origin.
pub(crate) fn whence(outcome: &TaskOutcome) -> &str {
    given_again(outcome).unwrap_or("answered before")
}
