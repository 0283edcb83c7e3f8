//! Reading: what is committed, as one snapshot a question, checked before it leaves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Params, Transaction};
use sortie_protocol::{Event, Fact, TaskId, TaskOutcome};

use super::failure::{Doing, Failure};
use super::schema::{self, Format};
use super::sum::Sum;
use super::{open, row};
use crate::owner::Owner;
use crate::task::Progress;
use crate::{JournalError, Position, Scope, TaskHeader};

/// A connection of its own, so that reading never waits for writing.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    patience: Duration,
    /// Opened by the first question where a writer stands beside it: starting to write must not wait for it.
    connection: Mutex<Option<Connection>>,
}

impl Reader {
    pub(super) fn new(path: &Path, patience: Duration, connection: Connection) -> Self {
        Self { path: path.to_owned(), patience, connection: Mutex::new(Some(connection)) }
    }

    /// A reader that connects when it is first asked.
    pub(super) fn later(path: &Path, patience: Duration) -> Self {
        Self { path: path.to_owned(), patience, connection: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn format_version(&self) -> Result<u32, JournalError> {
        self.ask(|snapshot| match schema::format(snapshot)? {
            Format::Ours { version } => Ok(version),
            // What is opened is ours, or has been made so.
            Format::Empty | Format::Foreign => Ok(0),
        })
    }

    pub(super) fn read(&self, task: TaskId) -> Result<Vec<Event>, JournalError> {
        self.ask(|snapshot| {
            let end = snapshot
                .prepare_cached(&format!("{} WHERE t.task = ?1", row::TASKS))?
                .query_row([task.letters()], |row| Ok((row::progress(row, 8)?, row.get(15)?)))
                .optional()?;
            let (events, last_sum) = events_of(snapshot, task)?;
            match end {
                Some(end) => whole(task, events, last_sum, end),
                // Events without a row of their task were refused while they were read.
                None => Err(JournalError::NoSuchTask { asked: task.to_string() }.into()),
            }
        })
    }

    pub(super) fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        self.ask(|snapshot| {
            let newest = "WHERE e.task = ?1 AND e.kind = 'task_ended' ORDER BY e.seq DESC LIMIT 1";
            let mut statement = snapshot.prepare_cached(&format!("{} {newest}", row::EVENTS))?;
            let mut rows = statement.query([task.letters()])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            Ok(match row::event(row)?.0.fact {
                Fact::TaskEnded { outcome } => Some(*outcome),
                _ => None,
            })
        })
    }

    pub(super) fn read_after(
        &self,
        scope: Scope,
        after: Position,
        limit: usize,
    ) -> Result<Vec<(Position, Event)>, JournalError> {
        let root = match scope {
            Scope::All => None,
            Scope::Tree(root) => Some(root.letters().to_owned()),
        };
        self.ask(|snapshot| {
            let whose = if root.is_some() { "t.root = ?3" } else { "?3 IS NULL" };
            let query = format!("{} WHERE e.position > ?1 AND {whose} ORDER BY e.position LIMIT ?2", row::EVENTS);
            let mut statement = snapshot.prepare_cached(&query)?;
            let mut rows = statement.query((after.0, sql_limit(limit), &root))?;
            let mut events = Vec::new();
            while let Some(row) = rows.next()? {
                let (event, _) = row::event(row)?;
                events.push((Position(row.get(8)?), event));
            }
            Ok(events)
        })
    }

    pub(super) fn end(&self) -> Result<Position, JournalError> {
        self.ask(|snapshot| {
            let mut statement = snapshot.prepare_cached("SELECT coalesce(max(position), 0) FROM events")?;
            Ok(Position(statement.query_row((), |row| row.get(0))?))
        })
    }

    pub(super) fn tasks(&self, limit: usize) -> Result<Vec<TaskHeader>, JournalError> {
        self.headers("ORDER BY t.number DESC LIMIT ?1", [sql_limit(limit)])
    }

    pub(super) fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        let letters = prefix.strip_prefix("agent-").unwrap_or(prefix);
        // Ids are made of a to z, and `{` follows `z`.
        self.headers("WHERE t.task >= ?1 AND t.task < ?1 || '{' ORDER BY t.number", [letters])
    }

    pub(super) fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        // Parents start before their children, so the order of starting puts them first.
        let members = "WHERE t.number IN (
                WITH RECURSIVE member (number, task) AS (
                    SELECT number, task FROM tasks WHERE task = ?1
                    UNION
                    SELECT child.number, child.task FROM tasks child JOIN member ON child.parent = member.task
                )
                SELECT number FROM member
            )
            ORDER BY t.number";
        let headers = self.headers(members, [root.letters()])?;
        if headers.is_empty() {
            return Err(JournalError::NoSuchTask { asked: root.to_string() });
        }
        Ok(headers)
    }

    fn headers(&self, which: &str, parameters: impl Params) -> Result<Vec<TaskHeader>, JournalError> {
        self.ask(|snapshot| {
            // Most tasks of a list have the same few owners.
            let mut alive = HashMap::new();
            let mut statement = snapshot.prepare_cached(&format!("{} {which}", row::TASKS))?;
            let mut rows = statement.query(parameters)?;
            let mut headers = Vec::new();
            while let Some(row) = rows.next()? {
                let progress = row::progress(row, 8)?;
                let is_alive = |owner: Owner| *alive.entry(owner).or_insert_with(|| owner.is_alive());
                headers.push(row::origin(row)?.header(&progress, is_alive));
            }
            Ok(headers)
        })
    }

    /// Answers a question from one snapshot, whatever is written meanwhile.
    fn ask<T>(&self, question: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>) -> Result<T, JournalError> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *slot {
            Some(connection) => connection,
            empty => empty.insert(open::beside_the_writer(&self.path, self.patience)?),
        };
        let snapshot = connection.unchecked_transaction().map_err(|error| Doing::Reading.failed(&self.path, error))?;
        question(&snapshot).map_err(|failure| Doing::Reading.failed(&self.path, failure))
    }
}

/// All events of a task, each checked and none missing in between, with the sum of the last.
fn events_of(snapshot: &Transaction<'_>, task: TaskId) -> Result<(Vec<Event>, Option<Sum>), Failure> {
    let mut statement = snapshot.prepare_cached(&format!("{} WHERE e.task = ?1 ORDER BY e.seq", row::EVENTS))?;
    let mut rows = statement.query([task.letters()])?;
    let mut events = Vec::new();
    let mut last_sum = None;
    while let Some(row) = rows.next()? {
        let expected = events.len() as u64 + 1;
        if row.get::<_, i64>(10)?.cast_unsigned() != expected {
            return Err(JournalError::DamagedTask { task, seq: expected, cause: "it is missing".to_owned() }.into());
        }
        let (event, sum) = row::event(row)?;
        events.push(event);
        last_sum = Some(sum);
    }
    Ok((events, last_sum))
}

/// The events, if they end where the task's row says that they end.
fn whole(task: TaskId, events: Vec<Event>, last_sum: Option<Sum>, end: (Progress, Sum)) -> Result<Vec<Event>, Failure> {
    let (progress, expected_sum) = end;
    let found = events.len() as u64;
    let damaged = |seq, cause: String| JournalError::DamagedTask { task, seq, cause };
    if found < progress.last_seq {
        let cause = format!("it and all after it are missing ({} have been written)", progress.last_seq);
        return Err(damaged(found + 1, cause).into());
    }
    if found > progress.last_seq {
        let cause = format!("only {} have been written", progress.last_seq);
        return Err(damaged(progress.last_seq + 1, cause).into());
    }
    if last_sum != Some(expected_sum) {
        return Err(damaged(found, "it is not the one that was written last".to_owned()).into());
    }
    Ok(events)
}

/// SQLite takes signed numbers; a negative one would mean no limit.
fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
