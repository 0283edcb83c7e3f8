//! Reads committed data: one snapshot per query, verified before it is returned.
//!
//! This file has the connection and the smaller queries; `task_list` and `task_log` have the larger ones.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction};
use sortie_protocol::{Command, Event, TaskId};

use crate::database::error::{DatabaseError, Doing};
use crate::database::row_checksum::RowChecksum;
use crate::database::schema::{self, Format};
use crate::database::totals::Totals;
use crate::database::{open, row, task_row};
use crate::port::{CommandId, JournalError, Position, Scope, Standing};

/// A connection of its own, so that reading never waits for writing.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    patience: Duration,
    /// Opened by the first query if there is also a writer: the start of writing must not wait for it.
    connection: Mutex<Option<Connection>>,
}

impl Reader {
    pub(super) fn new(path: &Path, patience: Duration, connection: Connection) -> Self {
        Self { path: path.to_owned(), patience, connection: Mutex::new(Some(connection)) }
    }

    /// A reader that connects at its first query.
    pub(super) fn later(path: &Path, patience: Duration) -> Self {
        Self { path: path.to_owned(), patience, connection: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn format_version(&self) -> Result<u32, JournalError> {
        self.ask(|snapshot| match schema::format(snapshot)? {
            Format::Ours { version } => Ok(version),
            // An open file is always ours.
            Format::Empty | Format::Foreign => Ok(0),
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
            let query = format!(
                "{} WHERE e.position > ?1 AND {whose} AND t.going IS NOT 1 ORDER BY e.position LIMIT ?2",
                row::EVENTS
            );
            let mut statement = snapshot.prepare_cached(&query)?;
            let mut rows = statement.query((after.0, sql_limit(limit), &root))?;
            let mut events = Vec::new();
            let mut last = after;
            while let Some(row) = rows.next()? {
                let event = row::event(row)?;
                last = Position(in_order(last.0, row.get(8)?)?);
                events.push((last, event));
            }
            Ok(events)
        })
    }

    pub(super) fn end(&self) -> Result<Position, JournalError> {
        self.ask(|snapshot| Ok(Position(Totals::load(snapshot)?.position)))
    }

    pub(super) fn standing(&self, task: TaskId) -> Result<Standing, JournalError> {
        self.ask(|snapshot| Ok(task_row::known(snapshot, task)?.tail.progress.standing(task)))
    }

    pub(super) fn newest_command(&self) -> Result<CommandId, JournalError> {
        self.ask(|snapshot| Ok(CommandId(Totals::load(snapshot)?.command)))
    }

    pub(super) fn commands_after(
        &self,
        after: CommandId,
        limit: usize,
    ) -> Result<Vec<(CommandId, Command)>, JournalError> {
        self.ask(|snapshot| {
            let query = "SELECT number, task, mark, body FROM commands WHERE number > ?1 ORDER BY number LIMIT ?2";
            let mut statement = snapshot.prepare_cached(query)?;
            let mut rows = statement.query((after.0, sql_limit(limit)))?;
            let mut commands = Vec::new();
            let mut last = after.0;
            while let Some(row) = rows.next()? {
                last = in_order(last, row.get(0)?)?;
                let (number, task, mark, body): (i64, String, RowChecksum, String) = row.try_into()?;
                let damaged = |cause: String| DatabaseError::Damage(format!("command {number} {cause}"));
                if mark != RowChecksum::of_command(number, &task, &body) {
                    return Err(damaged("does not match its checksum".to_owned()));
                }
                let command =
                    serde_json::from_str(&body).map_err(|error| damaged(format!("cannot be read: {error}")))?;
                commands.push((CommandId(number), command));
            }
            Ok(commands)
        })
    }

    /// Answers a query from one snapshot, whatever is written meanwhile.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, JournalError> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *slot {
            Some(connection) => connection,
            empty => empty.insert(open::beside_the_writer(&self.path, self.patience)?),
        };
        let snapshot = connection.unchecked_transaction().map_err(|error| Doing::Reading.failed(&self.path, error))?;
        question(&snapshot).map_err(|failure| Doing::Reading.failed(&self.path, failure))
    }
}

/// Returns the next number, which must be greater. A page read twice in place of another brings back an earlier number.
pub(super) fn in_order(last: i64, next: i64) -> Result<i64, DatabaseError> {
    if next <= last {
        return Err(DatabaseError::Damage(format!("row {next} comes after row {last}")));
    }
    Ok(next)
}

/// SQLite takes signed numbers; a negative one would mean no limit.
fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
