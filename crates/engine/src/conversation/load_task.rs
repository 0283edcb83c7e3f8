//! A task loaded from its log, with the usage of its children, ready to be resumed or ended.

use std::sync::Arc;

use sortie_journal::{Journal, JournalError, Standing, TaskState};
use sortie_protocol::{CallId, Event, Fact, Failure, FailureCode, Job, Limits, Message, Status, TaskId, Usage};

use crate::budget::account::{Account, Footprint};
use crate::conversation::inherited::inherited;
use crate::conversation::task_record::TaskRecord;
use crate::log::writer::LegHold;
use crate::ports::failure::journal_failure;

/// Assumption about a process that has the task but cannot be seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unseen {
    MayRun,
    /// The user knows that they are gone, and takes over their tasks.
    AreGone,
}

/// A task loaded from its log.
pub(crate) struct LoadedTask {
    pub(crate) past: TaskRecord,
    /// State before the log was read: if it has changed since, another process has resumed the task.
    pub(crate) standing: Standing,
    /// Sum over its children and their descendants.
    pub(crate) below: Footprint,
}

impl LoadedTask {
    /// Returns its account, with all its usage so far.
    pub(crate) fn account(&self, limits: Limits, above: Option<Arc<Account>>) -> Arc<Account> {
        let mut so_far = self.past.totals.footprint();
        so_far += self.below.clone();
        Account::restored(limits, so_far, above)
    }

    /// Returns the attempt and leg under which the task resumes.
    pub(crate) fn hold(&self) -> Result<LegHold, Failure> {
        let Self { standing, .. } = self;
        let attempt = standing.next_attempt().map_err(journal_failure)?;
        let leg = if matches!(standing.state, TaskState::Ended(_)) { standing.leg + 1 } else { standing.leg };
        Ok(LegHold { attempt, leg })
    }
}

/// Returns the standing of a task. With `AreGone`, a process that cannot be seen from here counts as gone.
pub(crate) fn standing(journal: &dyn Journal, task: TaskId, unseen: Unseen) -> Result<Standing, Failure> {
    let standing = journal.standing(task).map_err(journal_failure)?;
    Ok(match unseen {
        Unseen::AreGone => standing.given_up(),
        Unseen::MayRun => standing,
    })
}

/// Loads a task in this standing, and returns notices about children whose usage is unknown. Fails at once if a process
/// has the task, and later if one takes it while it is read.
pub(crate) fn remember(journal: &dyn Journal, standing: Standing) -> Result<(LoadedTask, Vec<String>), Failure> {
    standing.next_attempt().map_err(journal_failure)?;
    let (past, damage) = folded(journal, standing.task_id, |each| journal.read_standing(&standing, each))?;
    Ok(with_children(journal, whole(past, damage)?, standing))
}

/// Loads a task whose log may be damaged, up to the damage, and adds a notice about it.
pub(crate) fn recall(journal: &dyn Journal, standing: Standing) -> Result<(LoadedTask, Vec<String>), Failure> {
    standing.next_attempt().map_err(journal_failure)?;
    let (past, damage) = read_what_is_whole(journal, standing.task_id)?;
    let (loaded, mut notices) = with_children(journal, past, standing);
    notices.extend(damage.map(|damage| format!("part of what it has done is missing here: {damage}")));
    Ok((loaded, notices))
}

/// Reads the whole log of a task.
pub(crate) fn read(journal: &dyn Journal, task: TaskId) -> Result<TaskRecord, Failure> {
    let (past, damage) = read_what_is_whole(journal, task)?;
    whole(past, damage)
}

/// Reads the log of a task, up to the damage if there is any.
pub(crate) fn read_what_is_whole(
    journal: &dyn Journal,
    task: TaskId,
) -> Result<(TaskRecord, Option<JournalError>), Failure> {
    folded(journal, task, |each| journal.read_each(task, 0, each))
}

fn whole(past: TaskRecord, damage: Option<JournalError>) -> Result<TaskRecord, Failure> {
    damage.map_or(Ok(past), |damage| Err(journal_failure(damage)))
}

/// Folds the events that `read` returns into a record, with the error that ended them early.
fn folded(
    journal: &dyn Journal,
    task: TaskId,
    read: impl FnOnce(&mut dyn FnMut(Event)) -> Result<(), JournalError>,
) -> Result<(TaskRecord, Option<JournalError>), Failure> {
    let mut past: Option<TaskRecord> = None;
    // An unreadable beginning is reported by the read below.
    let inherited = journal.beginning(task).map_or(Ok(Vec::new()), |job| read_inherited(journal, &job));
    let (inherited, lost) = inherited.map_or_else(|lost| (Vec::new(), Some(lost)), |messages| (messages, None));
    let read = read(&mut |event: Event| record(&mut past, event, &inherited));
    match (past, read) {
        (Some(past), read) => Ok((past, read.err().or(lost))),
        (None, Err(error)) => Err(journal_failure(error)),
        (None, Ok(())) => {
            Err(Failure::new(FailureCode::Journal, format!("the log of {task} does not begin with its start")))
        }
    }
}

/// Reads the messages that a task inherits from the log of its parent. A task that was not forked has none.
fn read_inherited(journal: &dyn Journal, job: &Job) -> Result<Vec<Message>, JournalError> {
    let (Some(fork), Some(parent)) = (&job.fork, job.parent) else { return Ok(Vec::new()) };
    let mut past = None;
    let mut has_started = false;
    let beginning = read_inherited(journal, &journal.beginning(parent)?)?;
    journal.read_each(parent, 0, &mut |event| {
        has_started |= matches!(event.fact, Fact::ChildStarted { child, .. } if child == job.task);
        if !has_started {
            record(&mut past, event, &beginning);
        }
    })?;
    let history = past.filter(|_| has_started).map(|past| past.history);
    let complete = history.filter(|history| history.messages().len() >= fork.end);
    let missing = || JournalError::DamagedTask {
        task: parent,
        seq: 1,
        cause: format!("the conversation that {} was forked from is not in it", job.task),
    };
    Ok(inherited(complete.ok_or_else(missing)?.messages(), fork))
}

/// Applies the next event of a log to the record, which the first event begins.
fn record(past: &mut Option<TaskRecord>, event: Event, inherited: &[Message]) {
    match past {
        Some(past) => past.replay(event),
        none => *none = TaskRecord::of(event, inherited),
    }
}

/// Returns the task that waits for this one, and its call: the parent, or the task that adopted it. Nobody waits if
/// their logs cannot be read.
pub(crate) fn expecting(journal: &dyn Journal, parent: Option<TaskId>, task: TaskId) -> Option<(TaskRecord, CallId)> {
    let mut next = parent;
    while let Some(above) = next {
        let (past, _) = read_what_is_whole(journal, above).ok()?;
        if let Some(call) = past.waits_for(task) {
            return Some((past, call));
        }
        // A failed parent may have been resumed since; the children that it left to tasks above stay with those.
        next = past.job.parent;
    }
    None
}

fn with_children(journal: &dyn Journal, past: TaskRecord, standing: Standing) -> (LoadedTask, Vec<String>) {
    let (mut below, mut notices) = (Footprint::default(), Vec::new());
    for child in &past.totals.children {
        match left_by(journal, *child) {
            Ok(footprint) => below += footprint,
            // The child's answer is in its parent's log; only its usage is missing.
            Err(failure) => notices.push(format!("the usage of {child} is not counted: {}", failure.message)),
        }
    }
    (LoadedTask { past, standing, below }, notices)
}

/// Returns the footprint of a task with its descendants over all legs, as far as their logs can be read. Its duration
/// is not included: the header has it.
pub fn footprint_so_far(journal: &dyn Journal, task: TaskId) -> Result<Footprint, Failure> {
    let (past, _) = read_what_is_whole(journal, task)?;
    let mut so_far = past.totals.footprint();
    past.totals.children.iter().filter_map(|child| left_by(journal, *child).ok()).for_each(|below| so_far += below);
    Ok(so_far)
}

/// Returns the footprint of a task with its descendants, the task counted among those started. An ended task's outcome
/// has it, unless its children continued after it failed.
fn left_by(journal: &dyn Journal, task: TaskId) -> Result<Footprint, Failure> {
    let standing = journal.standing(task).map_err(journal_failure)?;
    if matches!(standing.state, TaskState::Ended(_))
        && let Some(outcome) = journal.ending(task).map_err(journal_failure)?
    {
        let tree = journal.tree(task).map_err(journal_failure)?;
        let told = Footprint {
            usage: Usage { duration_ms: 0, ..outcome.usage },
            files_changed: outcome.files_changed.into_iter().collect(),
            started: u32::try_from(tree.len()).unwrap_or(u32::MAX),
        };
        // An earlier leg may also have failed.
        let may_have_left = outcome.status == Status::Failed || standing.leg > 1;
        let summed = if may_have_left { summed(journal, task).ok() } else { None };
        let Some(summed) = summed else { return Ok(told) };
        let has_more = summed.usage.total_tokens() > told.usage.total_tokens();
        return Ok(Footprint {
            usage: if has_more { summed.usage } else { told.usage },
            files_changed: summed.files_changed,
            ..told
        });
    }
    summed(journal, task)
}

/// Adds up the footprint from the logs of all of them.
fn summed(journal: &dyn Journal, task: TaskId) -> Result<Footprint, Failure> {
    let past = read(journal, task)?;
    let mut footprint = Footprint { started: 1, ..past.totals.footprint() };
    for child in &past.totals.children {
        footprint += left_by(journal, *child)?;
    }
    Ok(footprint)
}
