//! A task as its log tells of it, with what its children have used: what everybody needs who goes on with it or ends it.

use std::sync::Arc;

use sortie_journal::{Journal, JournalError, Standing, TaskState};
use sortie_protocol::{CallId, Event, Failure, Limits, Status, TaskId, Usage};

use crate::account::Account;
use crate::replay::Past;
use crate::sink::Hold;

/// A task as its log tells of it.
pub(crate) struct Remembered {
    pub(crate) past: Past,
    /// As it was before the log was read: if it has changed since, the task has gone on without us.
    pub(crate) standing: Standing,
    /// What its children with all below them have used, and how many tasks that were.
    pub(crate) below: Usage,
    pub(crate) started_below: u32,
}

impl Remembered {
    /// Its account, with all that was used so far.
    pub(crate) fn account(&self, limits: Limits, above: Option<Arc<Account>>) -> Arc<Account> {
        let mut spent = self.past.deeds.usage;
        spent += self.below;
        Account::restored(limits, spent, self.started_below, above)
    }

    /// Under which number, and for which leg, the task goes on.
    pub(crate) fn hold(&self) -> Result<Hold, Failure> {
        let Self { standing, .. } = self;
        let attempt = standing.next_attempt().map_err(journal_failure)?;
        let leg = if matches!(standing.state, TaskState::Ended(_)) { standing.leg + 1 } else { standing.leg };
        Ok(Hold { attempt, leg })
    }
}

/// Where a task stands. Who takes over knows that a process which cannot be seen from here is gone.
pub(crate) fn standing(journal: &dyn Journal, task: TaskId, takes_over: bool) -> Result<Standing, Failure> {
    let standing = journal.standing(task).map_err(journal_failure)?;
    Ok(if takes_over { standing.given_up() } else { standing })
}

/// Reads a task back that stands so, and says what of its children is not known. Refused, before anything is read, is one
/// that somebody has, and while it is read one that somebody takes.
pub(crate) fn remember(journal: &dyn Journal, standing: Standing) -> Result<(Remembered, Vec<String>), Failure> {
    standing.next_attempt().map_err(journal_failure)?;
    let past = whole(folded(standing.task_id, |each| journal.read_standing(&standing, each))?)?;
    Ok(with_children(journal, past, standing))
}

/// The same of a task whose log may be damaged: what stands before the damage, which is told.
pub(crate) fn recall(journal: &dyn Journal, standing: Standing) -> Result<(Remembered, Vec<String>), Failure> {
    standing.next_attempt().map_err(journal_failure)?;
    let (past, damage) = read_what_is_whole(journal, standing.task_id)?;
    let (remembered, mut notices) = with_children(journal, past, standing);
    notices.extend(damage.map(|damage| format!("not all that it has done is told: {damage}")));
    Ok((remembered, notices))
}

/// The whole log of a task.
pub(crate) fn read(journal: &dyn Journal, task: TaskId) -> Result<Past, Failure> {
    whole(read_what_is_whole(journal, task)?)
}

/// The log of a task up to where it is damaged, if it is.
pub(crate) fn read_what_is_whole(journal: &dyn Journal, task: TaskId) -> Result<(Past, Option<JournalError>), Failure> {
    folded(task, |each| journal.read_each(task, 0, each))
}

fn whole((past, damage): (Past, Option<JournalError>)) -> Result<Past, Failure> {
    damage.map_or(Ok(past), |damage| Err(journal_failure(damage)))
}

/// What the events come to that `read` gives, and why they end before the log does.
fn folded(
    task: TaskId,
    read: impl FnOnce(&mut dyn FnMut(Event)) -> Result<(), JournalError>,
) -> Result<(Past, Option<JournalError>), Failure> {
    let mut past: Option<Past> = None;
    let read = read(&mut |event: Event| match &mut past {
        Some(past) => past.take(event),
        none => *none = Past::begin(event),
    });
    match (past, read) {
        (Some(past), read) => Ok((past, read.err())),
        (None, Err(error)) => Err(journal_failure(error)),
        (None, Ok(())) => Err(Failure::new("journal", format!("the log of {task} does not begin with its start"))),
    }
}

/// Who waits for a task, and with which call: its parent, or who has it since that one failed. Whoever cannot be read waits
/// for nobody any more.
pub(crate) fn expecting(journal: &dyn Journal, parent: Option<TaskId>, task: TaskId) -> Option<(Past, CallId)> {
    let mut next = parent;
    while let Some(above) = next {
        let (past, _) = read_what_is_whole(journal, above).ok()?;
        if let Some(call) = past.waits_for(task) {
            return Some((past, call));
        }
        next = past.job.parent.filter(|_| past.has_handed_over());
    }
    None
}

fn with_children(journal: &dyn Journal, past: Past, standing: Standing) -> (Remembered, Vec<String>) {
    let (mut below, mut started_below, mut notices) = (Usage::default(), 0, Vec::new());
    for child in &past.deeds.children {
        match used_by(journal, *child) {
            Ok((usage, started)) => {
                below += usage;
                started_below += started;
            }
            // What it answered stands in its parent's log; only what it used is missing.
            Err(failure) => notices.push(format!("what {child} has used is not counted: {}", failure.message)),
        }
    }
    (Remembered { past, standing, below, started_below }, notices)
}

/// What a task with all below it has used by now, over all its legs, as far as their logs can be read. How long it has worked
/// is not among it: its header tells that.
pub fn usage_so_far(journal: &dyn Journal, task: TaskId) -> Result<Usage, Failure> {
    let (past, _) = read_what_is_whole(journal, task)?;
    let below = past.deeds.children.iter().filter_map(|child| used_by(journal, *child).ok());
    Ok(below.fold(past.deeds.usage, |mut usage, (used, _)| {
        usage += used;
        usage
    }))
}

/// What a task with all below it has used, and how many tasks that is. Of one that has ended its ending tells, unless what
/// it had started went on when it failed.
fn used_by(journal: &dyn Journal, task: TaskId) -> Result<(Usage, u32), Failure> {
    let standing = journal.standing(task).map_err(journal_failure)?;
    if matches!(standing.state, TaskState::Ended(_))
        && let Some(outcome) = journal.ending(task).map_err(journal_failure)?
    {
        let tree = journal.tree(task).map_err(journal_failure)?;
        let started = u32::try_from(tree.len()).unwrap_or(u32::MAX);
        let told = Usage { duration_ms: 0, ..outcome.usage };
        let since = Some(outcome.status).filter(|status| *status == Status::Failed);
        let summed = since.and_then(|_| summed(journal, task).ok()).map(|(usage, _)| usage);
        return Ok((summed.filter(|summed| summed.total_tokens() > told.total_tokens()).unwrap_or(told), started));
    }
    summed(journal, task)
}

/// The same, from the logs of all of them.
fn summed(journal: &dyn Journal, task: TaskId) -> Result<(Usage, u32), Failure> {
    let past = read(journal, task)?;
    let (mut usage, mut started) = (past.deeds.usage, 1);
    for child in &past.deeds.children {
        let (below, further) = used_by(journal, *child)?;
        usage += below;
        started += further;
    }
    Ok((usage, started))
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
pub(crate) fn journal_failure(error: JournalError) -> Failure {
    let code = match error {
        JournalError::Fenced { task, .. } | JournalError::LegOver { task, .. } | JournalError::Stale { task, .. } => {
            let message = format!("{task} has just been taken up by somebody else; wait for it, or stop it first");
            return Failure::new("still_running", message);
        }
        JournalError::NoSuchTask { .. } => "no_such_task",
        JournalError::StillRunning { .. } => "still_running",
        JournalError::OutOfSight { .. } => "out_of_sight",
        _ => "journal",
    };
    Failure::new(code, error.to_string())
}
