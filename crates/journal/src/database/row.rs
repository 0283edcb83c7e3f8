//! Rows of the file, and conversion to and from values. This file and the queries that select the rows agree on the
//! order of columns.

use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type};
use sortie_protocol::{Event, Status, TaskId, Timestamp, VERSION};

use crate::database::error::DatabaseError;
use crate::database::event_checksum::{EventChecksum, EventDigest};
use crate::database::row_checksum::{RowChecksum, RowDigest};
use crate::port::{JournalError, Worked};
use crate::tasks::owner::Owner;
use crate::tasks::progress::{Origin, Progress};

/// Complete rows of tasks: origin, then progress, then what protects both.
pub(crate) const TASKS: &str = "
    SELECT t.task, t.parent, t.root, t.depth, t.agent, t.title, t.workspace, t.started,
        t.attempt, t.owner_pid, t.owner_started, t.owner_space, t.leg, t.last_seq, t.updated, t.status, t.ended_seq,
        t.children, t.log_sum, t.going, t.row_mark, t.number, t.worked,
        t.admitted, t.heard
    FROM tasks t";

/// Complete rows of tasks in a file of version 2.
pub(crate) const TASKS_IN_VERSION_2: &str = "
    SELECT t.task, t.parent, t.root, t.depth, t.agent, t.title, t.workspace, t.started,
        t.attempt, t.owner_pid, t.owner_started, t.owner_space, t.leg, t.last_seq, t.updated, t.status, t.ended_seq,
        t.children, t.log_sum, t.going, t.mark, t.number
    FROM tasks t";

/// Events, each after the origin of its task and before the checksum of the previous event.
pub(crate) const EVENTS: &str = "
    SELECT t.task, t.parent, t.root, t.depth, t.agent, t.title, t.workspace, t.started,
        e.position, e.task, e.seq, e.leg, e.time, e.version, e.kind, e.body, e.sum, p.sum
    FROM events e
    LEFT JOIN tasks t ON t.task = e.task
    LEFT JOIN events p ON p.task = e.task AND p.seq = e.seq - 1";

/// Events of one task, without columns of other rows.
pub(crate) const LOG: &str = "
    SELECT e.position, e.task, e.seq, e.leg, e.time, e.version, e.kind, e.body, e.sum
    FROM events e";

/// A row of [`TASKS`].
#[derive(Debug)]
pub(crate) struct TaskRow {
    pub(crate) origin: Origin,
    pub(crate) tail: TaskTail,
}

/// The part of a task's row that changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskTail {
    /// Position in the order of starting.
    pub(crate) number: i64,
    pub(crate) origin_mark: RowChecksum,
    pub(crate) progress: Progress,
    /// Last checksum in the chain of the task's events.
    pub(crate) log_sum: EventChecksum,
    /// Being pruned, and therefore hidden from everything else.
    pub(crate) going: bool,
}

impl TaskTail {
    /// The checksum of the whole row.
    pub(crate) fn checksum(&self) -> RowChecksum {
        with_working_time(self.checksum_in_version_2(), &self.progress.worked)
    }

    /// The checksum without the working time, which version 2 did not have.
    pub(crate) fn checksum_in_version_2(&self) -> RowChecksum {
        let Self { number, origin_mark, progress, log_sum, going } = self;
        let mut digest = RowDigest::default();
        digest.number(*number);
        digest.number(origin_mark.as_number());
        digest.number(i64::from(progress.attempt));
        digest.number(i64::from(progress.owner.pid));
        digest.number(progress.owner.started.cast_signed());
        digest.number(progress.owner.space.cast_signed());
        digest.number(i64::from(progress.leg));
        digest.number(progress.last_seq.cast_signed());
        digest.number(progress.updated.0.cast_signed());
        digest.text(progress.status.map_or("", status_word).as_bytes());
        digest.number(progress.ended_seq.unwrap_or_default().cast_signed());
        digest.number(i64::from(progress.children));
        digest.text(log_sum.bytes());
        digest.number(i64::from(*going));
        digest.finish()
    }
}

/// Adds the working time to the checksum of a version 2 row.
pub(crate) fn with_working_time(checksum: RowChecksum, worked: &Worked) -> RowChecksum {
    let (before, admitted, heard) = worked_columns(worked);
    checksum.with(before, admitted, heard)
}

/// An event as stored, before decoding: the input of its checksum.
#[derive(Debug)]
pub(crate) struct StoredEvent<'a> {
    pub(crate) position: i64,
    pub(crate) task: &'a [u8],
    pub(crate) seq: i64,
    pub(crate) leg: i64,
    pub(crate) time: i64,
    pub(crate) version: i64,
    pub(crate) kind: &'a [u8],
    pub(crate) body: &'a [u8],
}

impl<'a> StoredEvent<'a> {
    /// Reads the eight columns of an event, starting at column `first`.
    fn from_row(row: &'a Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            position: row.get(first)?,
            task: bytes(row, first + 1)?,
            seq: row.get(first + 2)?,
            leg: row.get(first + 3)?,
            time: row.get(first + 4)?,
            version: row.get(first + 5)?,
            kind: bytes(row, first + 6)?,
            body: bytes(row, first + 7)?,
        })
    }

    /// Checksum of the previous one and everything stored about this event.
    pub(crate) fn checksum(&self, previous: EventChecksum) -> EventChecksum {
        let mut digest = EventDigest::default();
        digest.text(previous.bytes());
        digest.number(self.position);
        digest.text(self.task);
        digest.number(self.seq);
        digest.number(self.leg);
        digest.number(self.time);
        digest.number(self.version);
        digest.text(self.kind);
        digest.text(self.body);
        digest.finish()
    }

    /// Decodes the event if `sum` matches its bytes after `previous`.
    fn check(&self, previous: EventChecksum, sum: EventChecksum, origin: &Origin) -> Result<Event, DatabaseError> {
        let (task_id, seq) = (origin.task_id, self.seq.cast_unsigned());
        let damaged = |cause: String| JournalError::DamagedTask { task: task_id, seq, cause };
        if self.checksum(previous) != sum {
            return Err(damaged("its checksum does not match".to_owned()).into());
        }
        let fact = serde_json::from_slice(self.body).map_err(|error| {
            damaged(format!("version {} of its kind cannot be read (known up to {VERSION}): {error}", self.version))
        })?;
        let small = |number: i64| u32::try_from(number).map_err(|_| damaged(format!("{number} is out of range")));
        Ok(Event {
            v: small(self.version)?,
            seq,
            task_id,
            parent_id: origin.parent_id,
            depth: origin.depth,
            leg: small(self.leg)?,
            time: Timestamp(self.time.cast_unsigned()),
            fact,
        })
    }
}

/// Reads the start of a row of [`TASKS`] or [`EVENTS`].
fn origin(row: &Row<'_>) -> rusqlite::Result<Origin> {
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

/// Reads the ten columns of a task's progress, starting at column `first`, except the working time.
fn progress(row: &Row<'_>, first: usize, worked: Worked) -> rusqlite::Result<Progress> {
    Ok(Progress {
        attempt: row.get(first)?,
        owner: Owner {
            pid: row.get(first + 1)?,
            started: row.get::<_, i64>(first + 2)?.cast_unsigned(),
            space: row.get::<_, i64>(first + 3)?.cast_unsigned(),
        },
        leg: row.get(first + 4)?,
        last_seq: row.get::<_, i64>(first + 5)?.cast_unsigned(),
        updated: time(row, first + 6)?,
        status: status(row, first + 7)?,
        ended_seq: row.get::<_, Option<i64>>(first + 8)?.map(i64::cast_unsigned),
        children: row.get(first + 9)?,
        worked,
    })
}

/// Reads the three columns of a task's working time, starting at column `first`.
fn worked(row: &Row<'_>, first: usize) -> rusqlite::Result<Worked> {
    Ok(Worked {
        before: Duration::from_millis(row.get::<_, i64>(first)?.cast_unsigned()),
        admitted: row.get::<_, Option<i64>>(first + 1)?.map(|time| Timestamp(time.cast_unsigned())),
        last_heard: time(row, first + 2)?,
    })
}

/// Values for the columns of the working time.
pub(crate) fn worked_columns(worked: &Worked) -> (i64, Option<i64>, i64) {
    let before = i64::try_from(worked.before.as_millis()).unwrap_or(i64::MAX);
    (before, worked.admitted.map(|time| time.0.cast_signed()), worked.last_heard.0.cast_signed())
}

/// Reads a row of [`TASKS`] and verifies its checksum.
pub(crate) fn task(row: &Row<'_>) -> Result<TaskRow, DatabaseError> {
    let task = unchecked_task(row, worked(row, 22)?)?;
    if row.get::<_, RowChecksum>(20)? != task.tail.checksum() {
        return Err(DatabaseError::Damage(format!(
            "the header of {} does not match its checksum",
            task.origin.task_id
        )));
    }
    Ok(task)
}

/// The number of a row of [`TASKS_IN_VERSION_2`] that has no checksum yet, and the checksum to store.
pub(crate) fn unmarked_task(row: &Row<'_>) -> rusqlite::Result<(i64, RowChecksum)> {
    let TaskRow { tail, .. } = unchecked_task(row, Worked::begin(Timestamp(0)))?;
    Ok((tail.number, tail.checksum_in_version_2()))
}

fn unchecked_task(row: &Row<'_>, worked: Worked) -> rusqlite::Result<TaskRow> {
    let origin = origin(row)?;
    let tail = TaskTail {
        number: row.get(21)?,
        origin_mark: RowChecksum::of_origin(&origin),
        progress: progress(row, 8, worked)?,
        log_sum: row.get(18)?,
        going: row.get(19)?,
    };
    Ok(TaskRow { origin, tail })
}

/// Reads a row of [`EVENTS`] and verifies its checksum.
pub(crate) fn event(row: &Row<'_>) -> Result<Event, DatabaseError> {
    let stored = StoredEvent::from_row(row, 8)?;
    let task = task_id(row, 9)?;
    let seq = stored.seq.cast_unsigned();
    let damaged = |cause: String| JournalError::DamagedTask { task, seq, cause };
    if row.get_ref(0)?.data_type() == Type::Null {
        return Err(damaged("the row of its task is missing".to_owned()).into());
    }
    let origin = origin(row)?;
    let sum: EventChecksum = row.get(16).map_err(|error| damaged(format!("its checksum cannot be read ({error})")))?;
    let previous = match row.get(17)? {
        Some(previous) => previous,
        None if seq == 1 => EventChecksum::of_origin(&origin),
        None => return Err(damaged("the event before it is missing".to_owned()).into()),
    };
    stored.check(previous, sum, &origin)
}

/// Reads a row of [`LOG`] and verifies it as the successor of `previous`. Returns the event with its checksum and
/// length.
pub(crate) fn next_event(
    row: &Row<'_>,
    previous: EventChecksum,
    origin: &Origin,
) -> Result<(Event, EventChecksum, usize), DatabaseError> {
    let stored = StoredEvent::from_row(row, 0)?;
    let (task, seq) = (origin.task_id, stored.seq.cast_unsigned());
    let sum = row.get(8).map_err(|error| {
        let cause = format!("its checksum cannot be read ({error})");
        JournalError::DamagedTask { task, seq, cause }
    })?;
    Ok((stored.check(previous, sum, origin)?, sum, stored.body.len()))
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [u8]> {
    let value = row.get_ref(column)?;
    value.as_bytes().map_err(|error| unreadable(column, error))
}

pub(crate) fn task_id(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskId> {
    let text = row.get_ref(column)?.as_str().map_err(|error| unreadable(column, error))?;
    text.parse().map_err(|error| unreadable(column, error))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp(row.get::<_, i64>(column)?.cast_unsigned()))
}

fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Status>> {
    let Some(word) = row.get_ref(column)?.as_str_or_null().map_err(|error| unreadable(column, error))? else {
        return Ok(None);
    };
    let found = STATUSES.into_iter().find(|status| status_word(*status) == word);
    found.map(Some).ok_or_else(|| unreadable(column, FromSqlError::InvalidType))
}

const STATUSES: [Status; 5] = [Status::Completed, Status::Partial, Status::Failed, Status::Cancelled, Status::Rejected];

/// Stored name of a status.
pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Partial => "partial",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
        // Never an ending on record.
        Status::Interrupted => "interrupted",
        Status::Rejected => "rejected",
    }
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
