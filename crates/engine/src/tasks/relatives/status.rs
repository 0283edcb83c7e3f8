//! The status of a task, for another task of its tree or for a host. Other modules decide who may see whom.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{Holder, Standing, TaskState};
use sortie_protocol::{Failure, FailureCode, TaskId, TaskOutcome};
use sortie_tools::{Choice, Glance, Listing, ReportPage, Stand, Work};

use super::visible::RelatedTask;
use crate::messages::running_task::{RunningTask, StoppedBy};
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::state::EngineState;

/// Time for a task to end after it was told to.
pub(crate) const END_WITHIN: Duration = Duration::from_secs(10);

/// Largest report that can be read in pages.
const MAX_REPORT_BYTES: u64 = 64 << 20;

/// Reader of tasks' statuses.
pub(crate) trait StatusReader: Sync {
    fn glance(&self, member: RelatedTask) -> impl Future<Output = Result<Glance, Failure>> + Send;
}

/// Lists the chosen tasks, newest first. An ended task is skipped by its status, without reading its log.
pub(crate) async fn listing(
    onlooker: &impl StatusReader,
    members: Vec<RelatedTask>,
    Choice { status, most }: Choice<'_>,
) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    for member in members.into_iter().rev() {
        let known = match (status, &member.state) {
            (None, _) => Some(true),
            (Some(status), TaskState::Ended(ended)) => Some(ended.to_string() == status),
            (Some(_), _) => None,
        };
        let is_full = listing.newest.len() >= most;
        let glance = match known {
            Some(false) => continue,
            Some(true) if is_full => None,
            _ => Some(onlooker.glance(member).await?),
        };
        // The log may be a moment behind.
        if let (Some(status), Some(glance)) = (status, &glance)
            && glance.stand.status() != status
        {
            continue;
        }
        listing.n_all += 1;
        listing.newest.extend(glance.filter(|_| !is_full));
    }
    listing.newest.reverse();
    Ok(listing)
}

/// Returns the status of a task at work, without knowing whether it waits for the reader's answer.
pub(crate) fn stand_of(running_task: &RunningTask) -> Stand {
    let glimpse = running_task.sink.latest_activity().glimpse();
    let Some(admitted) = glimpse.admitted else { return Stand::Waits };
    let spent = running_task.account.spent();
    Stand::Works(Work {
        turn: glimpse.turn,
        tool_calls: spent.tool_calls,
        tokens: spent.total_tokens(),
        elapsed: running_task.worked_before + admitted.elapsed(),
        last: glimpse.last,
        awaits_answer: false,
    })
}

/// Returns a task that works here and has not ended.
pub(crate) async fn at_work(engine: &EngineState, task: TaskId) -> Option<Arc<RunningTask>> {
    let running_task = engine.present.find(task)?;
    let is_over = match &running_task.address {
        Some(address) => address.hold().await.is_over,
        None => false,
    };
    (!is_over).then_some(running_task)
}

/// Returns the status of a task that nobody runs here. Its report is in no inbox.
pub(crate) async fn recorded_stand(engine: &EngineState, task: TaskId) -> Result<Stand, Failure> {
    let journal = Arc::clone(&engine.journal);
    let read = move || {
        let Standing { state, holder, .. } = journal.standing(task).map_err(journal_failure)?;
        let ending = if matches!(state, TaskState::Ended(_)) { journal.ending(task) } else { Ok(None) };
        Ok((state, holder, ending.map_err(journal_failure)?))
    };
    let (state, holder, ending) = blocking(read).await?;
    match holder {
        _ if matches!(state, TaskState::Ended(_)) => {}
        Holder::Nobody => return Ok(Stand::Interrupted),
        Holder::ThisProcess => return Ok(Stand::Elsewhere { pid: std::process::id(), is_seen: true }),
        Holder::Other { pid } => return Ok(Stand::Elsewhere { pid, is_seen: true }),
        Holder::OutOfSight { pid } => return Ok(Stand::Elsewhere { pid, is_seen: false }),
    }
    let missing = || Failure::new(FailureCode::Journal, format!("the ending of {task} is missing"));
    Ok(Stand::Ended { outcome: Box::new(ending.ok_or_else(missing)?), unread: None })
}

/// Returns one page of a task's whole report: `most` characters from `from`.
pub(crate) async fn report_page(
    engine: &EngineState,
    task: TaskId,
    from: usize,
    most: usize,
) -> Result<ReportPage, Failure> {
    let journal = Arc::clone(&engine.journal);
    let ending = blocking(move || journal.ending(task).map_err(journal_failure)).await?;
    let none_yet = || Failure::new(FailureCode::NoReport, format!("{task} has not ended: it has no report yet"));
    page_of(engine, ending.ok_or_else(none_yet)?, from, most).await
}

/// Returns one page of the report in this ending.
pub(crate) async fn page_of(
    engine: &EngineState,
    ending: TaskOutcome,
    from: usize,
    most: usize,
) -> Result<ReportPage, Failure> {
    let reports = Arc::clone(&engine.reports);
    let read = move || {
        let TaskOutcome { task_id, text, truncated, full_text_path, .. } = ending;
        let Some(path) = full_text_path.filter(|_| truncated) else { return Ok(text) };
        let gone =
            |why: String| Failure::new(FailureCode::NoReport, format!("the whole report of {task_id} is gone: {why}"));
        let name = path.rsplit('/').next().unwrap_or_default();
        let whole = reports.recall(name, MAX_REPORT_BYTES).map_err(|error| gone(error.to_string()))?;
        let whole = whole.ok_or_else(|| gone(format!("{path} does not exist")))?;
        Ok(String::from_utf8_lossy(&whole).into_owned())
    };
    let whole = blocking(read).await?;
    let text = whole.chars().skip(from).take(most).collect();
    Ok(ReportPage { text, from, whole: whole.chars().count() })
}

/// Stops the tasks of a tree that run here, waits for them, and returns them.
pub(crate) async fn end_all(
    engine: &EngineState,
    task: TaskId,
    tree: &[RelatedTask],
    by: StoppedBy,
) -> Result<Vec<Arc<RunningTask>>, Failure> {
    let stopped: Vec<Arc<RunningTask>> = tree.iter().filter_map(|member| engine.present.find(member.task)).collect();
    // A failed task no longer stops its children.
    for running_task in &stopped {
        running_task.stop(by);
    }
    let all_over = async {
        for running_task in &stopped {
            running_task.over.cancelled().await;
        }
    };
    if tokio::time::timeout(END_WITHIN, all_over).await.is_err() {
        return Err(not_ended(task));
    }
    Ok(stopped)
}

/// Returns the failure for a task that has not ended in time.
pub(crate) fn not_ended(task: TaskId) -> Failure {
    let message = format!("{task} was told to stop, but did not end within {} s", END_WITHIN.as_secs());
    Failure::new(FailureCode::StillRunning, message)
}
