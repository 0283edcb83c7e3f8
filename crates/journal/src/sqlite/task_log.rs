//! Reads the log of one task in pages, each event verified against the one before it.

use rusqlite::{Connection, OptionalExtension};
use sortie_protocol::{Event, Fact, Job, TaskId, TaskOutcome};

use crate::database::error::{DatabaseError, Doing};
use crate::database::event_checksum::EventChecksum;
use crate::database::row::{self, TaskRow};
use crate::database::task_row;
use crate::port::{JournalError, Standing};
use crate::sqlite::reader::Reader;

/// A page ends after this many events or `PAGE_BYTES`, which bounds the memory of a replay.
const PAGE_EVENTS: usize = 1024;
const PAGE_BYTES: usize = 1 << 20;

/// Progress of a replay.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// The number of the next event.
    next: u64,
    /// The checksum of the event before it, once known.
    previous: Option<EventChecksum>,
}

/// Some events, and the start of the next page; `None` after the last.
struct Page {
    events: Vec<Event>,
    then: Result<Option<Cursor>, DatabaseError>,
}

/// Passes the events from number `from` on to `each`. Nothing is locked between two pages: `each` may call the journal,
/// and others may write.
pub(super) fn read_each(
    reader: &Reader,
    task: TaskId,
    from: u64,
    each: &mut dyn FnMut(Event),
) -> Result<(), JournalError> {
    read_pages(reader, Extent { task, from, last: None }, each)
}

/// Passes the whole log of a task with this standing to `each`, as [`read_each`] does. Fails if a page finds another
/// end.
pub(super) fn read_standing(
    reader: &Reader,
    standing: &Standing,
    each: &mut dyn FnMut(Event),
) -> Result<(), JournalError> {
    read_pages(reader, Extent { task: standing.task_id, from: 1, last: Some(standing.last_seq) }, each)
}

/// The part of a log to read.
#[derive(Debug, Clone, Copy)]
struct Extent {
    task: TaskId,
    from: u64,
    /// Number of the last event, if known.
    last: Option<u64>,
}

fn read_pages(reader: &Reader, extent: Extent, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
    let Extent { task, from, last } = extent;
    let mut cursor = Cursor { next: from.max(1), previous: None };
    loop {
        let page = reader.ask(|snapshot| read_page(snapshot, task, last, cursor))?;
        page.events.into_iter().for_each(&mut *each);
        // Everything read before the damage is right.
        match page.then.map_err(|failure| Doing::Reading.failed(reader.path(), failure))? {
            Some(further) => cursor = further,
            None => return Ok(()),
        }
    }
}

pub(super) fn beginning(reader: &Reader, task: TaskId) -> Result<Job, JournalError> {
    reader.ask(|snapshot| {
        task_row::known(snapshot, task)?;
        match event_at(snapshot, task, 1)?.fact {
            Fact::TaskStarted { job } => Ok(*job),
            _ => Err(JournalError::not_the_start(task).into()),
        }
    })
}

pub(super) fn ending(reader: &Reader, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
    reader.ask(|snapshot| {
        let Some(row) = task_row::find(snapshot, task)? else { return Ok(None) };
        let Some(seq) = row.tail.progress.ended_seq.filter(|_| !row.tail.going) else { return Ok(None) };
        match event_at(snapshot, task, seq)?.fact {
            Fact::TaskEnded { outcome } => Ok(Some(*outcome)),
            _ => Err(damaged(task, seq, "it is not an ending")),
        }
    })
}

fn event_at(snapshot: &Connection, task: TaskId, seq: u64) -> Result<Event, DatabaseError> {
    let mut statement = snapshot.prepare_cached(&format!("{} WHERE e.task = ?1 AND e.seq = ?2", row::EVENTS))?;
    let mut rows = statement.query((task.letters(), seq.cast_signed()))?;
    let Some(row) = rows.next()? else { return Err(damaged(task, seq, "it is missing")) };
    row::event(row)
}

fn read_page(snapshot: &Connection, task: TaskId, last: Option<u64>, cursor: Cursor) -> Result<Page, DatabaseError> {
    let row = task_row::known(snapshot, task)?;
    let now = row.tail.progress.last_seq;
    if let Some(read) = last.filter(|last| *last != now) {
        return Err(JournalError::Stale { task, read, last: now }.into());
    }
    let mut events = Vec::new();
    let then = fill(snapshot, &row, cursor, &mut events);
    Ok(Page { events, then })
}

fn fill(
    snapshot: &Connection,
    task: &TaskRow,
    cursor: Cursor,
    events: &mut Vec<Event>,
) -> Result<Option<Cursor>, DatabaseError> {
    let id = task.origin.task_id;
    let mut next = cursor.next;
    if next > task.tail.progress.last_seq + 1 {
        return Ok(None);
    }
    let mut previous = match cursor.previous {
        Some(previous) => previous,
        None if next == 1 => EventChecksum::of_origin(&task.origin),
        None => sum_of(snapshot, id, next - 1)?,
    };
    let mut statement =
        snapshot.prepare_cached(&format!("{} WHERE e.task = ?1 AND e.seq >= ?2 ORDER BY e.seq", row::LOG))?;
    let mut rows = statement.query((id.letters(), next.cast_signed()))?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if events.len() == PAGE_EVENTS || bytes >= PAGE_BYTES {
            return Ok(Some(Cursor { next, previous: Some(previous) }));
        }
        if row.get::<_, i64>(2)?.cast_unsigned() != next {
            return Err(damaged(id, next, "it is missing"));
        }
        let (event, sum, length) = row::next_event(row, previous, &task.origin)?;
        events.push(event);
        (next, previous, bytes) = (next + 1, sum, bytes + length);
    }
    ends_as_recorded(task, next - 1, previous)?;
    Ok(None)
}

fn sum_of(snapshot: &Connection, task: TaskId, seq: u64) -> Result<EventChecksum, DatabaseError> {
    let mut statement = snapshot.prepare_cached("SELECT sum FROM events WHERE task = ?1 AND seq = ?2")?;
    let found = statement.query_row((task.letters(), seq.cast_signed()), |row| row.get(0)).optional()?;
    found.ok_or_else(|| damaged(task, seq, "it is missing"))
}

/// Checks that the events end where the task's row says.
fn ends_as_recorded(task: &TaskRow, found: u64, last_sum: EventChecksum) -> Result<(), DatabaseError> {
    let (id, written) = (task.origin.task_id, task.tail.progress.last_seq);
    if found < written {
        return Err(damaged(id, found + 1, &format!("it and all after it are missing ({written} have been written)")));
    }
    if found > written {
        return Err(damaged(id, written + 1, &format!("only {written} have been written")));
    }
    if last_sum != task.tail.log_sum {
        return Err(damaged(id, found, "it is not the one that was written last"));
    }
    Ok(())
}

fn damaged(task: TaskId, seq: u64, cause: &str) -> DatabaseError {
    JournalError::DamagedTask { task, seq, cause: cause.to_owned() }.into()
}
