//! Lists the headers of tasks.
//!
//! A checksum shows that a row is right. Counting shows that none is missing: all rows against the totals, the children
//! of each task against its header. An index is trusted only where its results can be checked this way.

use std::collections::{HashMap, VecDeque};

use rusqlite::Connection;
use sortie_protocol::TaskId;

use crate::database::error::DatabaseError;
use crate::database::row::{self, TaskRow};
use crate::database::task_row;
use crate::database::totals::Totals;
use crate::port::{JournalError, TaskHeader, TaskQuery};
use crate::sqlite::reader::{Reader, in_order};
use crate::tasks::owner::Owner;

pub(super) fn list(reader: &Reader, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError> {
    reader.ask(|snapshot| {
        let before = match query.behind {
            Some(task) => task_row::known(snapshot, task)?.tail.number,
            None => i64::MAX,
        };
        let (totals, open) = (Totals::load(snapshot)?, query.is_about_open_legs());
        let rows = if open {
            expect(snapshot, "SELECT count(*) FROM tasks INDEXED BY tasks_open WHERE status IS NULL", totals.open)?;
            "INDEXED BY tasks_open WHERE t.status IS NULL AND"
        } else {
            expect(snapshot, ALL, totals.tasks)?;
            "NOT INDEXED WHERE"
        };
        let mut headers = Headers::default();
        let most = usize::try_from(if open { totals.open } else { totals.tasks }).unwrap_or_default();
        headers.found.reserve(query.limit.min(most));
        each_row(snapshot, &format!("{rows} t.number < ?1 ORDER BY t.number DESC"), before, |task| {
            // A damaged index entry leads to a task that does not belong here, or twice to the same task.
            if open && task.tail.progress.status.is_some() {
                return Err(DatabaseError::Damage("its index of open tasks leads to one that has ended".to_owned()));
            }
            headers.push(task, |header| query.admits(header));
            Ok(headers.found.len() < query.limit)
        })?;
        Ok(headers.found)
    })
}

pub(super) fn find(reader: &Reader, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
    let letters = prefix.strip_prefix("agent-").unwrap_or(prefix);
    reader.ask(|snapshot| {
        let mut headers = Headers::default();
        if let Ok(task) = letters.parse::<TaskId>() {
            if let Some(row) = task_row::find(snapshot, task)? {
                headers.push(row, |_| true);
            }
            return Ok(headers.found);
        }
        expect(snapshot, ALL, Totals::load(snapshot)?.tasks)?;
        each_row(snapshot, "NOT INDEXED WHERE t.number < ?1 ORDER BY t.number DESC", i64::MAX, |task| {
            headers.push(task, |header| header.task_id.letters().starts_with(letters));
            Ok(true)
        })?;
        headers.found.reverse();
        Ok(headers.found)
    })
}

pub(super) fn tree_headers(reader: &Reader, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
    reader.ask(|snapshot| {
        let mut headers = Headers::default();
        for task in tree_rows(snapshot, root)? {
            headers.push(task, |_| true);
        }
        Ok(headers.found)
    })
}

const ALL: &str = "SELECT count(*) FROM tasks NOT INDEXED";

/// Headers found so far.
#[derive(Default)]
struct Headers {
    found: Vec<TaskHeader>,
    /// Cache: most tasks of a list have the same few owners.
    alive: HashMap<Owner, bool>,
}

impl Headers {
    fn push(&mut self, task: TaskRow, belongs: impl FnOnce(&TaskHeader) -> bool) {
        let is_alive = |owner: Owner| *self.alive.entry(owner).or_insert_with(|| owner.is_alive());
        let header = task.origin.header(&task.tail.progress, is_alive);
        if !task.tail.going && belongs(&header) {
            self.found.push(header);
        }
    }
}

/// The rows of a task and all its descendants, in the order of starting, so parents come first.
pub(super) fn tree_rows(snapshot: &Connection, root: TaskId) -> Result<Vec<TaskRow>, DatabaseError> {
    let mut waiting = VecDeque::from([task_row::known(snapshot, root)?]);
    let mut members = Vec::new();
    let children = format!("{} INDEXED BY tasks_by_parent WHERE t.parent = ?1 ORDER BY t.number", row::TASKS);
    let mut statement = snapshot.prepare_cached(&children)?;
    while let Some(task) = waiting.pop_front() {
        let (mut found, mut last) = (0, 0);
        let mut rows = statement.query([task.origin.task_id.letters()])?;
        while let Some(row) = rows.next()? {
            let child = row::task(row)?;
            last = in_order(last, child.tail.number)?;
            found += u32::from(child.origin.parent_id == Some(task.origin.task_id));
            waiting.push_back(child);
        }
        let expected = task.tail.progress.children;
        if found != expected {
            let id = task.origin.task_id;
            return Err(DatabaseError::Damage(format!("{id} should have {expected} children and has {found}")));
        }
        members.push(task);
    }
    members.sort_by_key(|member| member.tail.number);
    Ok(members)
}

/// Passes verified rows to `each`, newest first, while it wants more. In `which`, `?1` stands for `number`.
fn each_row(
    snapshot: &Connection,
    which: &str,
    number: i64,
    mut each: impl FnMut(TaskRow) -> Result<bool, DatabaseError>,
) -> Result<(), DatabaseError> {
    let mut statement = snapshot.prepare_cached(&format!("{} {which}", row::TASKS))?;
    let mut rows = statement.query([number])?;
    let mut last = number;
    while let Some(row) = rows.next()? {
        let task = row::task(row)?;
        in_order(task.tail.number, last)?;
        last = task.tail.number;
        if !each(task)? {
            break;
        }
    }
    Ok(())
}

/// Checks that the number of tasks found is the number expected.
fn expect(snapshot: &Connection, count: &str, expected: i64) -> Result<(), DatabaseError> {
    let found: i64 = snapshot.prepare_cached(count)?.query_row((), |row| row.get(0))?;
    if found != expected {
        return Err(DatabaseError::Damage(format!("{expected} tasks were expected and {found} found")));
    }
    Ok(())
}
