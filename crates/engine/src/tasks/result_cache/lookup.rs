//! Lookup in the result cache before a delegated task starts, and the entry after it has ended.

use std::sync::Arc;

use sortie_contract::given_again;
use sortie_protocol::TaskOutcome;

use crate::messages::report_cap::leave_room;
use crate::ports::approval::Approvals;
use crate::tasks::result_cache::{CacheAnswer, CacheQuery, CacheTicket};
use crate::tasks::state::EngineState;
use crate::tasks::task::Task;

/// What is known of a task before it starts.
pub(crate) enum CachedOrNew {
    /// Somebody has done the same on the same files.
    Done(Box<TaskOutcome>),
    /// It must be done; whether it is worth keeping is seen afterwards.
    New(Option<Box<CacheTicket>>),
}

/// Looks for an outcome that can be given again, where results are kept at all.
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

/// Keeps the outcome of a task that has ended, if it may be given again.
pub(crate) async fn keep(engine: &EngineState, ticket: Option<Box<CacheTicket>>, approvals: &Arc<Approvals>) {
    let (Some(cache), Some(ticket)) = (engine.cache.clone(), ticket) else { return };
    let (journal, workspace) = (Arc::clone(&engine.journal), Arc::clone(&engine.workspace));
    let approvals = Arc::clone(approvals);
    let keep = move || cache.remember(journal.as_ref(), &workspace, &ticket, &approvals);
    // That nothing could be kept is known from the look before.
    tokio::task::spawn_blocking(keep).await.ok();
}

/// The words in which an outcome that is given again says so.
pub(crate) fn whence(outcome: &TaskOutcome) -> &str {
    given_again(outcome).unwrap_or("answered before")
}
