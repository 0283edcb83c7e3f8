//! Rows of the file and the values they stand for. The order of columns is the contract between this file and the
//! queries that select them.

use rusqlite::Row;
use rusqlite::types::Type;
use sortie_protocol::{Event, Status, TaskId, Timestamp, VERSION};

use super::failure::Failure;
use super::sum::Sum;
use crate::JournalError;
use crate::owner::Owner;
use crate::task::{Origin, Progress};

/// The whole rows of tasks: an origin, then a progress, then the last sum.
pub(super) const TASKS: &str = "
    SELECT t.task, t.parent, t.root, t.depth, t.agent, t.title, t.workspace, t.started,
        t.attempt, t.owner_pid, t.owner_started, t.leg, t.last_seq, t.updated, t.status, t.last_sum
    FROM tasks t";

/// Events, each with the origin of its task before it and the sum of the event before it behind it.
pub(super) const EVENTS: &str = "
    SELECT t.task, t.parent, t.root, t.depth, t.agent, t.title, t.workspace, t.started,
        e.position, e.task, e.seq, e.leg, e.time, e.version, e.kind, e.body, e.sum, p.sum
    FROM events e
    LEFT JOIN tasks t ON t.task = e.task
    LEFT JOIN events p ON p.task = e.task AND p.seq = e.seq - 1";

/// An event as it is stored, before it is decoded: what its sum is made over.
#[derive(Debug)]
pub(super) struct StoredEvent<'a> {
    pub(super) position: i64,
    pub(super) task: &'a [u8],
    pub(super) seq: i64,
    pub(super) leg: i64,
    pub(super) time: i64,
    pub(super) version: i64,
    pub(super) kind: &'a [u8],
    pub(super) body: &'a [u8],
}

impl<'a> StoredEvent<'a> {
    fn from_row(row: &'a Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            position: row.get(8)?,
            task: bytes(row, 9)?,
            seq: row.get(10)?,
            leg: row.get(11)?,
            time: row.get(12)?,
            version: row.get(13)?,
            kind: bytes(row, 14)?,
            body: bytes(row, 15)?,
        })
    }
}

/// The start of a row of [`TASKS`] or [`EVENTS`].
pub(super) fn origin(row: &Row<'_>) -> rusqlite::Result<Origin> {
    let parent_id = match row.get_ref(1)?.data_type() {
        Type::Null => None,
        _ => Some(task_id(row, 1)?),
    };
    Ok(Origin {
        task_id: task_id(row, 0)?,
        parent_id,
        root_id: task_id(row, 2)?,
        depth: row.get(3)?,
        agent: row.get(4)?,
        title: row.get(5)?,
        workspace: row.get(6)?,
        started: time(row, 7)?,
    })
}

/// The seven columns of a task's progress, from column `first` on.
pub(super) fn progress(row: &Row<'_>, first: usize) -> rusqlite::Result<Progress> {
    Ok(Progress {
        attempt: row.get(first)?,
        owner: Owner { pid: row.get(first + 1)?, started: row.get::<_, i64>(first + 2)?.cast_unsigned() },
        leg: row.get(first + 3)?,
        last_seq: row.get::<_, i64>(first + 4)?.cast_unsigned(),
        updated: time(row, first + 5)?,
        status: status(row, first + 6)?,
    })
}

/// A row of [`EVENTS`], checked against its sum. The sum comes with it.
pub(super) fn event(row: &Row<'_>) -> Result<(Event, Sum), Failure> {
    let stored = StoredEvent::from_row(row)?;
    let task_id = task_id(row, 9)?;
    let seq = stored.seq.cast_unsigned();
    let damaged = |cause: String| JournalError::DamagedTask { task: task_id, seq, cause };

    if row.get_ref(0)?.data_type() == Type::Null {
        return Err(damaged("the row of its task is missing".to_owned()).into());
    }
    let origin = origin(row)?;
    let sum: Sum = row.get(16).map_err(|error| damaged(format!("its checksum cannot be read ({error})")))?;
    let previous = match row.get(17)? {
        Some(previous) => previous,
        None if seq == 1 => Sum::of_origin(&origin),
        None => return Err(damaged("the event before it is missing".to_owned()).into()),
    };
    if Sum::of_event(previous, &stored) != sum {
        return Err(damaged("its checksum does not match".to_owned()).into());
    }
    let fact = serde_json::from_slice(stored.body).map_err(|error| {
        damaged(format!("version {} of its kind cannot be read (known up to {VERSION}): {error}", stored.version))
    })?;
    let event = Event {
        v: row.get(13)?,
        seq,
        task_id,
        parent_id: origin.parent_id,
        depth: origin.depth,
        leg: row.get(11)?,
        time: time(row, 12)?,
        fact,
    };
    Ok((event, sum))
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [u8]> {
    let value = row.get_ref(column)?;
    value.as_bytes().map_err(|error| unreadable(column, error))
}

fn task_id(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskId> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(column, error))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp(row.get::<_, i64>(column)?.cast_unsigned()))
}

fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Status>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_value(text.into()).map_err(|error| unreadable(column, error))).transpose()
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
