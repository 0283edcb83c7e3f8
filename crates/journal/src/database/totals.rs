//! Totals of the file: the number of rows, and the highest numbers used.
//!
//! A checksum in a row shows that the row is right; it cannot show that a row is missing. These counts can.

use rusqlite::{Connection, Transaction, params};

use crate::database::error::DatabaseError;
use crate::database::row;
use crate::database::row_checksum::RowChecksum;

/// The one row of `totals`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) tasks: i64,
    /// Tasks whose leg has not ended.
    pub(crate) open: i64,
    /// The highest number of a task in the order of starting.
    pub(crate) number: i64,
    /// The highest position used. Positions are never reused, whatever is pruned.
    pub(crate) position: i64,
    /// The highest number of a command.
    pub(crate) command: i64,
}

impl Totals {
    pub(crate) fn load(connection: &Connection) -> Result<Self, DatabaseError> {
        let mut statement =
            connection.prepare_cached("SELECT tasks, open, number, position, command, mark FROM totals")?;
        let mut rows = statement.query(())?;
        let Some(row) = rows.next()? else { return Err(DatabaseError::Damage("its totals are missing".to_owned())) };
        let totals = Self {
            tasks: row.get(0)?,
            open: row.get(1)?,
            number: row.get(2)?,
            position: row.get(3)?,
            command: row.get(4)?,
        };
        if row.get::<_, RowChecksum>(5)? != totals.mark() {
            return Err(DatabaseError::Damage("its totals do not match their checksum".to_owned()));
        }
        Ok(totals)
    }

    pub(crate) fn store(self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "UPDATE totals SET tasks = ?1, open = ?2, number = ?3, position = ?4, command = ?5, mark = ?6",
        )?;
        statement.execute(params![self.tasks, self.open, self.number, self.position, self.command, self.mark()])?;
        Ok(())
    }

    fn mark(self) -> RowChecksum {
        RowChecksum::of_numbers(&[self.tasks, self.open, self.number, self.position, self.command])
    }
}

/// Gives a file of version 1 its totals, and each of its tasks a checksum.
pub(crate) fn mark_everything(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut marks = Vec::new();
    {
        let mut statement = transaction.prepare(row::TASKS_IN_VERSION_2)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            marks.push(row::unmarked_task(row)?);
        }
    }
    for (number, mark) in marks {
        transaction.prepare_cached("UPDATE tasks SET mark = ?2 WHERE number = ?1")?.execute(params![number, mark])?;
    }
    let count = "SELECT (SELECT count(*) FROM tasks), (SELECT count(*) FROM tasks WHERE status IS NULL),
        (SELECT coalesce(max(number), 0) FROM tasks), (SELECT coalesce(max(position), 0) FROM events)";
    let totals = transaction.query_row(count, (), |row| {
        let (tasks, open, number, position) = row.try_into()?;
        Ok(Totals { tasks, open, number, position, command: 0 })
    })?;
    transaction.execute("INSERT INTO totals VALUES (0, 0, 0, 0, 0, 0)", ())?;
    totals.store(transaction)
}
