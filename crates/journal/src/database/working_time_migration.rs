//! Computes the working time of all tasks once, when an older file is migrated to version 3.
//!
//! Checks nothing: existing damage stays, and is found when it is read.

use rusqlite::{Transaction, params};
use sortie_protocol::{Fact, Timestamp};

use crate::database::row::{with_working_time, worked_columns};
use crate::database::row_checksum::RowChecksum;
use crate::port::Worked;

/// Writes the working time into the row of each task. Checksums are continued, not recomputed, so that damage stays
/// visible.
pub(crate) fn look_up(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut tasks = transaction.prepare("SELECT number, row_mark FROM tasks")?;
    let rows: Vec<(i64, RowChecksum)> = tasks.query_map((), |row| row.try_into())?.collect::<Result<_, _>>()?;
    let mut update = transaction
        .prepare("UPDATE tasks SET worked = ?2, admitted = ?3, heard = ?4, row_mark = ?5 WHERE number = ?1")?;
    for (number, mark) in rows {
        let worked = of_task(transaction, number)?;
        let (before, admitted, heard) = worked_columns(&worked);
        update.execute(params![number, before, admitted, heard, with_working_time(mark, &worked)])?;
    }
    Ok(())
}

/// Read from the ending if the leg has one, otherwise from all events. An unreadable event is skipped.
fn of_task(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<Worked> {
    let mut telling = transaction.prepare_cached(
        "SELECT e.time, e.body FROM tasks t JOIN events e ON e.task = t.task
        WHERE t.number = ?1 AND (t.status IS NULL OR e.seq = t.ended_seq) ORDER BY e.seq",
    )?;
    let mut rows = telling.query([number])?;
    let mut worked = Worked::begin(Timestamp(0));
    while let Some(row) = rows.next()? {
        let time = Timestamp(row.get::<_, i64>(0)?.cast_unsigned());
        if let Ok(fact) = serde_json::from_slice::<Fact>(row.get_ref(1)?.as_bytes()?) {
            worked.hear(&fact, time);
        }
    }
    Ok(worked)
}
