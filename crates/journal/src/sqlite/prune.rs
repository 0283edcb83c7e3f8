//! Removing old trees from the file, in steps so small that nobody who writes has to wait for long.
//!
//! First all tasks of a tree are marked as going, which takes them out of everybody's sight; then their events are
//! removed from the end of each log backwards, and their rows. A crash leaves marked tasks behind, which the next pruning
//! finishes.

use std::path::Path;

use rusqlite::{Connection, Transaction};
use sortie_protocol::{TaskId, Timestamp};

use super::failure::Failure;
use super::reader::Reader;
use super::row::TaskRow;
use super::totals::Totals;
use super::writer::Writer;
use super::{list, row, task_row};
use crate::owner::Owner;
use crate::prune::{self, Evidence, Pruned};
use crate::{JournalError, TaskHeader};

/// The most events that one step removes.
const STEP: i64 = 500;

/// One step of a pruning.
#[derive(Debug)]
pub(super) enum Removal {
    /// Marks these tasks, unless one of them has been written since it was looked at.
    Mark(Vec<Seen>),
    /// Removes the last events of a marked task, and with none left the task.
    Erase(TaskId),
}

/// A task and the number of its last event when it was looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    task: TaskId,
    last_seq: u64,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    events: u64,
    bytes: u64,
    /// Nothing is left to do there: all are marked, or all is erased.
    complete: bool,
}

/// An old tree, and what goes with it.
struct Tree {
    members: Vec<Seen>,
    evidence: Evidence,
}

pub(super) fn prune(
    reader: &Reader,
    writer: &Writer,
    older_than: Timestamp,
    discard: &mut dyn FnMut(&Path),
) -> Result<Pruned, JournalError> {
    let mut pruned = Pruned::default();
    let left = reader.ask(|snapshot| marked(snapshot))?;
    erase(writer, &left, discard, &mut pruned)?;
    for root in reader.ask(|snapshot| old_roots(snapshot, older_than))? {
        match reader.ask(|snapshot| old_tree(snapshot, root, older_than)) {
            Ok(None) | Err(JournalError::NoSuchTask { .. }) => {}
            Ok(Some(tree)) => {
                if writer.remove(Removal::Mark(tree.members.clone()))?.complete {
                    erase(writer, &tree, discard, &mut pruned)?;
                }
            }
            Err(JournalError::DamagedTask { .. } | JournalError::Damaged { .. }) => pruned.damaged.push(root),
            Err(error) => return Err(error),
        }
    }
    Ok(pruned)
}

/// Hands the reports over and removes the marked tasks. In this order: without its events nobody knows the reports.
fn erase(
    writer: &Writer,
    tree: &Tree,
    discard: &mut dyn FnMut(&Path),
    pruned: &mut Pruned,
) -> Result<(), JournalError> {
    for report in &tree.evidence.reports {
        discard(report);
    }
    for Seen { task, .. } in &tree.members {
        loop {
            let removed = writer.remove(Removal::Erase(*task))?;
            pruned.events += removed.events;
            pruned.bytes += removed.bytes;
            if removed.complete {
                break;
            }
        }
        pruned.tasks += 1;
    }
    Ok(())
}

/// What an interrupted pruning has left.
fn marked(snapshot: &Connection) -> Result<Tree, Failure> {
    let mut statement = snapshot.prepare("SELECT task FROM tasks WHERE going = 1")?;
    let found = statement.query_map((), |row| row::task_id(row, 0))?.collect::<Result<Vec<_>, _>>()?;
    let members = found.into_iter().map(|task| Seen { task, last_seq: 0 }).collect();
    let evidence = evidence(snapshot, &members)?;
    Ok(Tree { members, evidence })
}

fn old_roots(snapshot: &Connection, older_than: Timestamp) -> Result<Vec<TaskId>, Failure> {
    let mut statement = snapshot.prepare(
        "SELECT task FROM tasks
        WHERE parent IS NULL AND going = 0 AND status IS NOT NULL AND updated < ?1 ORDER BY number",
    )?;
    let found = statement.query_map([older_than.0.cast_signed()], |row| row::task_id(row, 0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The tree below the root, if it may go.
fn old_tree(snapshot: &Connection, root: TaskId, older_than: Timestamp) -> Result<Option<Tree>, Failure> {
    let rows = list::tree(snapshot, root)?;
    let seen = |row: &TaskRow| Seen { task: row.origin.task_id, last_seq: row.tail.progress.last_seq };
    let members = rows.iter().map(seen).collect();
    let headers: Vec<TaskHeader> =
        rows.into_iter().map(|row| row.origin.header(&row.tail.progress, Owner::is_alive)).collect();
    if !prune::is_old(&headers, older_than) {
        return Ok(None);
    }
    let evidence = evidence(snapshot, &members)?;
    Ok(evidence.has_all_delivered(&headers).then_some(Tree { members, evidence }))
}

fn evidence(snapshot: &Connection, members: &Vec<Seen>) -> Result<Evidence, Failure> {
    let mut evidence = Evidence::default();
    let telling = "WHERE e.task = ?1 AND e.kind IN ('child_ended', 'task_ended') ORDER BY e.seq";
    let mut statement = snapshot.prepare_cached(&format!("{} {telling}", row::EVENTS))?;
    for Seen { task, .. } in members {
        let mut rows = statement.query([task.letters()])?;
        while let Some(row) = rows.next()? {
            evidence.see(&row::event(row)?.fact);
        }
    }
    Ok(evidence)
}

impl Removal {
    pub(super) fn carry_out(&self, transaction: &Transaction<'_>) -> Result<Removed, Failure> {
        match self {
            Self::Mark(members) => mark(transaction, members),
            Self::Erase(task) => erase_some(transaction, *task),
        }
    }
}

/// A tree in which anything has happened since has a task with a later event: a new child is an event of its parent.
fn mark(transaction: &Transaction<'_>, members: &[Seen]) -> Result<Removed, Failure> {
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

fn erase_some(transaction: &Transaction<'_>, task: TaskId) -> Result<Removed, Failure> {
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
    Ok(Removed { events: events.cast_unsigned(), bytes: bytes.cast_unsigned(), complete })
}
