//! The last steps before a task starts: an earlier outcome, the start rate, the start hooks, the launch notice.

use std::sync::Arc;

use sortie_protocol::{Failure, Job, TaskOutcome};

use crate::tasks::result_cache::CacheTicket;
use crate::tasks::result_cache::lookup::{CachedOrNew, known};
use crate::tasks::scope::LaunchMode;
use crate::tasks::start::origin::Origin;
use crate::tasks::start::start_hooks::consult_hooks;
use crate::tasks::task::Task;

/// A task that may start.
pub(crate) struct Admitted {
    pub(crate) task: Task,
    /// Ticket for the result cache, if the outcome may be reused.
    pub(crate) ticket: Option<Box<CacheTicket>>,
    /// The reason why a background task has no progress file.
    pub(crate) notice: Option<String>,
}

/// The decision about a prepared task.
pub(crate) enum Admission {
    Start(Box<Admitted>),
    /// Not started: another task has done the same on the same files.
    GivenAgain {
        job: Arc<Job>,
        outcome: Box<TaskOutcome>,
    },
}

/// Admits a prepared task, or says why it must not start. A task that continues an interrupted leg was admitted before.
pub(crate) async fn admit(task: Task, origin: &Origin<'_>, mode: LaunchMode) -> Result<Admission, Failure> {
    let is_new = task.past.is_none();
    let admission = Box::pin(decide(task, origin, mode)).await;
    if is_new && !matches!(admission, Ok(Admission::Start(_))) {
        origin.uncount_child();
    }
    admission
}

async fn decide(mut task: Task, origin: &Origin<'_>, mode: LaunchMode) -> Result<Admission, Failure> {
    let engine = Arc::clone(&task.engine);
    let has_asked_cache = task.past.is_none() && mode == LaunchMode::Foreground && origin.takes_earlier_outcomes();
    // Its outcome depends on a conversation that no cache key covers.
    let has_asked_cache = has_asked_cache && task.job.fork.is_none();
    let known = if has_asked_cache { known(&engine, &mut task).await } else { CachedOrNew::New(None) };
    let ticket = match known {
        // Hooks do not hear of a start that does not happen.
        CachedOrNew::Done(outcome) => return Ok(Admission::GivenAgain { job: task.job, outcome }),
        CachedOrNew::New(ticket) => ticket,
    };
    if begins_a_leg(&task) {
        if origin.has_rate() {
            engine.check_rate()?;
        }
        origin.has_counted();
        consult_hooks(&mut task).await?;
    }
    let notice = match mode {
        LaunchMode::Foreground => None,
        // The launch notice names the file.
        LaunchMode::Background => task.sink.tell_in(&engine.reports, &[]),
    };
    Ok(Admission::Start(Box::new(Admitted { task, ticket, notice })))
}

/// True if the task gets a new prompt or a new leg, rather than continuing an interrupted one.
fn begins_a_leg(task: &Task) -> bool {
    task.past.as_ref().is_none_or(|resumed| resumed.is_new_leg || resumed.prompt.is_some())
}
