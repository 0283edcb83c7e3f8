//! One small step of a pruning, which the writer runs in its own transaction.

use rusqlite::Transaction;
use sortie_protocol::TaskId;

use crate::database::error::DatabaseError;
use crate::database::task_row;
use crate::database::totals::Totals;

/// Most events removed in one step.
const STEP: i64 = 500;

/// One step of a pruning.
#[derive(Debug)]
pub(super) enum Removal {
    /// Marks these tasks, unless one of them has been written to since it was read.
    Mark(Vec<Seen>),
    /// Removes the last events of a marked task, and finally the task itself.
    Erase(TaskId),
}

/// A task and the number of its last event when it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) task: TaskId,
    pub(super) last_seq: u64,
}

/// Result of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) events: u64,
    pub(super) bytes: u64,
    /// Nothing is left to do: everything is marked, or erased.
    pub(super) complete: bool,
    /// This step removed the task; otherwise another process was faster.
    pub(super) took_task: bool,
}

impl Removal {
    /// Marked tasks lose their files next, so a power cut must not bring them back. A lost erasure is simply repeated.
    pub(super) fn must_last(&self) -> bool {
        matches!(self, Self::Mark(_))
    }

    pub(super) fn carry_out(&self, transaction: &Transaction<'_>) -> Result<Removed, DatabaseError> {
        match self {
            Self::Mark(members) => mark(transaction, members),
            Self::Erase(task) => erase_some(transaction, *task),
        }
    }
}

/// A tree that changed since has a task with a later event: a new child is an event of its parent.
fn mark(transaction: &Transaction<'_>, members: &[Seen]) -> Result<Removed, DatabaseError> {
    let mut tails = Vec::with_capacity(members.len());
    for Seen { task, last_seq } in members {
        match task_row::find(transaction, *task)? {
            Some(row) if row.tail.progress.last_seq == *last_seq && !row.tail.going => tails.push(row.tail),
            _ => return Ok(Removed::default()),
        }
    }
    for mut tail in tails {
        tail.going = true;
        task_row::update(transaction, &tail)?;
    }
    Ok(Removed { complete: true, ..Removed::default() })
}

fn erase_some(transaction: &Transaction<'_>, task: TaskId) -> Result<Removed, DatabaseError> {
    let Some(row) = task_row::find(transaction, task)?.filter(|row| row.tail.going) else {
        return Ok(Removed { complete: true, ..Removed::default() });
    };
    let mut last = transaction.prepare_cached(
        "SELECT count(*), coalesce(sum(length), 0), min(seq) FROM (
            SELECT seq, octet_length(body) AS length FROM events WHERE task = ?1 ORDER BY seq DESC LIMIT ?2
        )",
    )?;
    let (events, bytes, first): (i64, i64, Option<i64>) =
        last.query_row((task.letters(), STEP), |row| row.try_into())?;
    let mut delete = transaction.prepare_cached("DELETE FROM events WHERE task = ?1 AND seq >= ?2")?;
    delete.execute((task.letters(), first.unwrap_or_default()))?;
    let complete = events < STEP;
    if complete {
        transaction.prepare_cached("DELETE FROM commands WHERE task = ?1")?.execute([task.letters()])?;
        transaction.prepare_cached("DELETE FROM tasks WHERE number = ?1")?.execute([row.tail.number])?;
        let mut totals = Totals::load(transaction)?;
        totals.tasks -= 1;
        totals.store(transaction)?;
    }
    let (events, bytes) = (events.cast_unsigned(), bytes.cast_unsigned());
    Ok(Removed { events, bytes, complete, took_task: complete })
}
