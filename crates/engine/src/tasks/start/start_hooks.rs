//! Start hooks: programs of the user that hear of a task before it starts, and may veto it.

use std::sync::Arc;

use sortie_protocol::{Failure, FailureCode, Job};
use tokio::time::Instant;

use crate::budget::deadline::until;
use crate::tasks::task::{Resumed, Task};

/// Asks the hooks about a task that is about to start, or to begin a new leg. Fails on a veto.
pub(super) async fn consult_hooks(task: &mut Task) -> Result<(), Failure> {
    let hooks = Arc::clone(&task.engine.hooks);
    if hooks.is_empty() {
        return Ok(());
    }
    let mut job = Box::new(Job::clone(&task.job));
    if let Some(Resumed { prompt, .. }) = &task.past {
        job.prompt = prompt.clone().unwrap_or_default();
    }
    // No hook can hold up a stop, or take more time than the task has.
    let own = job.config.limits.timeout.map(|timeout| Instant::now() + timeout);
    let parents = task.address.as_ref().and_then(|address| address.deadline.at());
    let verdict = tokio::select! {
        biased;
        () = task.cancel.cancelled() => return Err(unheard(FailureCode::Cancelled, "the task was stopped")),
        () = until(own.into_iter().chain(parents).min()) => return Err(unheard(FailureCode::Timeout, "the time ran out")),
        verdict = hooks.before_start(&job, task.sink.leg()) => verdict,
    };
    if let Some(veto) = verdict.failure() {
        return Err(veto.about([job.task.to_string()]));
    }
    task.hook_notices = verdict.notices;
    Ok(())
}

/// Returns the failure for a task that ended before its hooks answered.
fn unheard(code: FailureCode, why: &str) -> Failure {
    Failure::new(code, format!("{why} before a hook let the task start"))
}
