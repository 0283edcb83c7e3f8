//! Removes old trees from the file, in steps so small that no writer waits long.
//!
//! First all tasks of a tree are marked as going, which hides them from everyone. Then their events are removed, from
//! the end of each log backwards, and then their rows. A crash leaves marked tasks behind, which the next pruning
//! finishes.

use rusqlite::Connection;
use sortie_protocol::{TaskId, Timestamp};

use crate::database::error::DatabaseError;
use crate::database::row::TaskRow;
use crate::database::{row, task_row};
use crate::port::{JournalError, Kept, Pruned, TaskHeader};
use crate::sqlite::reader::Reader;
use crate::sqlite::removal::{Removal, Seen};
use crate::sqlite::task_list;
use crate::sqlite::writer::Writer;
use crate::tasks::owner::Owner;
use crate::tasks::prune_evidence::{self, Evidence};

/// Decision about a tree.
enum Fate {
    Goes {
        headers: Vec<TaskHeader>,
        members: Vec<Seen>,
    },
    /// It stays; the reason is given if it should be reported.
    Stays(Option<Kept>),
}

pub(super) fn prune(
    reader: &Reader,
    writer: &Writer,
    older_than: Timestamp,
    discard: &mut dyn FnMut(TaskId),
) -> Result<Pruned, JournalError> {
    let mut pruning = Pruning { reader, writer, discard, pruned: Pruned::default() };
    for task in reader.ask(|snapshot| marked(snapshot))? {
        let finished = pruning.finish(task);
        pruning.pass_over_damage(task, finished)?;
    }
    for root in reader.ask(|snapshot| old_roots(snapshot, older_than))? {
        let taken = pruning.take(root, older_than);
        pruning.pass_over_damage(root, taken)?;
    }
    Ok(pruning.pruned)
}

/// Tasks that would be removed, tree by tree, oldest first.
pub(super) fn prunable(reader: &Reader, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError> {
    let mut headers = Vec::new();
    for root in reader.ask(|snapshot| old_roots(snapshot, older_than))? {
        match reader.ask(|snapshot| fate(snapshot, root, older_than)) {
            Ok(Fate::Goes { headers: tree, .. }) => headers.extend(tree),
            Ok(Fate::Stays(_))
            | Err(JournalError::NoSuchTask { .. } | JournalError::DamagedTask { .. } | JournalError::Damaged { .. }) => {
            }
            Err(error) => return Err(error),
        }
    }
    Ok(headers)
}

/// A pruning under way.
struct Pruning<'a> {
    reader: &'a Reader,
    writer: &'a Writer,
    discard: &'a mut dyn FnMut(TaskId),
    pruned: Pruned,
}

impl Pruning<'_> {
    /// Removes the tree if it may be pruned.
    fn take(&mut self, root: TaskId, older_than: Timestamp) -> Result<(), JournalError> {
        match self.reader.ask(|snapshot| fate(snapshot, root, older_than))? {
            Fate::Stays(kept) => self.pruned.kept.extend(kept),
            Fate::Goes { members, .. } => {
                if self.writer.remove(Removal::Mark(members.clone()))?.complete {
                    self.erase(&members)?;
                }
            }
        }
        Ok(())
    }

    /// Removes a task that an interrupted pruning left marked, unless the mark is damage.
    fn finish(&mut self, task: TaskId) -> Result<(), JournalError> {
        let marked = [Seen { task, last_seq: 0 }];
        let is_going = self.reader.ask(|snapshot| {
            evidence(snapshot, &marked)?;
            Ok(task_row::find(snapshot, task)?.is_some_and(|row| row.tail.going))
        })?;
        if is_going { self.erase(&marked) } else { Ok(()) }
    }

    /// Reports the tasks, then removes them. In this order, because nobody knows that a removed task had files.
    fn erase(&mut self, marked: &[Seen]) -> Result<(), JournalError> {
        for Seen { task, .. } in marked {
            (self.discard)(*task);
            loop {
                let removed = self.writer.remove(Removal::Erase(*task))?;
                self.pruned.events += removed.events;
                self.pruned.bytes += removed.bytes;
                self.pruned.tasks.extend(removed.took_task.then_some(*task));
                if removed.complete {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Records a damaged tree, which stays. A tree that another process removed first is not an error.
    fn pass_over_damage(&mut self, root: TaskId, done: Result<(), JournalError>) -> Result<(), JournalError> {
        match done {
            Ok(()) | Err(JournalError::NoSuchTask { .. }) => {}
            Err(JournalError::DamagedTask { .. } | JournalError::Damaged { .. }) => self.pruned.damaged.push(root),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Tasks left over from an interrupted pruning.
fn marked(snapshot: &Connection) -> Result<Vec<TaskId>, DatabaseError> {
    let mut statement = snapshot.prepare("SELECT task FROM tasks WHERE going = 1 ORDER BY number")?;
    let found = statement.query_map((), |row| row::task_id(row, 0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn old_roots(snapshot: &Connection, older_than: Timestamp) -> Result<Vec<TaskId>, DatabaseError> {
    let mut statement = snapshot.prepare(
        "SELECT task FROM tasks
        WHERE parent IS NULL AND going = 0 AND updated < ?1 ORDER BY number",
    )?;
    let found = statement.query_map([older_than.0.cast_signed()], |row| row::task_id(row, 0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Decides whether the tree below the root may be pruned.
fn fate(snapshot: &Connection, root: TaskId, older_than: Timestamp) -> Result<Fate, DatabaseError> {
    let rows = task_list::tree_rows(snapshot, root)?;
    let stands = |row: &TaskRow| (row.tail.progress.standing(row.origin.task_id), row.tail.progress.updated);
    let kept = prune_evidence::kept(&rows.iter().map(stands).collect::<Vec<_>>(), older_than);
    let seen = |row: &TaskRow| Seen { task: row.origin.task_id, last_seq: row.tail.progress.last_seq };
    let members: Vec<Seen> = rows.iter().map(seen).collect();
    let headers: Vec<TaskHeader> =
        rows.into_iter().map(|row| row.origin.header(&row.tail.progress, Owner::is_alive)).collect();
    if !prune_evidence::is_old(&headers, older_than) {
        return Ok(Fate::Stays(kept));
    }
    let uncollected = evidence(snapshot, &members)?.uncollected(&headers);
    Ok(if uncollected.is_some() { Fate::Stays(uncollected) } else { Fate::Goes { headers, members } })
}

fn evidence(snapshot: &Connection, members: &[Seen]) -> Result<Evidence, DatabaseError> {
    let mut evidence = Evidence::default();
    let kinds = Evidence::KINDS.join("', '");
    let telling = format!("WHERE e.task = ?1 AND e.kind IN ('{kinds}') ORDER BY e.seq");
    let mut statement = snapshot.prepare_cached(&format!("{} {telling}", row::EVENTS))?;
    for Seen { task, .. } in members {
        let mut rows = statement.query([task.letters()])?;
        while let Some(row) = rows.next()? {
            evidence.see(&row::event(row)?);
        }
    }
    Ok(evidence)
}
