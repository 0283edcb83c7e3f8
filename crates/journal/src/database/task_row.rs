//! The row of one task: finding, inserting and changing it. Its checksum is updated with every change.

use rusqlite::{Connection, params};
use sortie_protocol::TaskId;

use crate::database::error::DatabaseError;
use crate::database::row::{self, TaskRow, TaskTail, status_word, worked_columns};
use crate::port::JournalError;
use crate::tasks::progress::Origin;

/// The row of a task, if it has one. Events without a row are damage, not a missing task.
pub(crate) fn find(connection: &Connection, task: TaskId) -> Result<Option<TaskRow>, DatabaseError> {
    let mut statement = connection.prepare_cached(&format!("{} WHERE t.task = ?1", row::TASKS))?;
    let mut rows = statement.query([task.letters()])?;
    if let Some(row) = rows.next()? {
        return Ok(Some(row::task(row)?));
    }
    let mut orphaned = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM events WHERE task = ?1)")?;
    if orphaned.query_row([task.letters()], |row| row.get(0))? {
        let cause = "the row of its task is missing".to_owned();
        return Err(JournalError::DamagedTask { task, seq: 1, cause }.into());
    }
    Ok(None)
}

/// The row of a task that is not being pruned; an error if there is none.
pub(crate) fn known(connection: &Connection, task: TaskId) -> Result<TaskRow, DatabaseError> {
    let found = find(connection, task)?.filter(|row| !row.tail.going);
    found.ok_or_else(|| JournalError::NoSuchTask { asked: task.to_string() }.into())
}

pub(crate) fn insert(connection: &Connection, origin: &Origin, tail: &TaskTail) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO tasks (number, task, parent, root, depth, agent, title, workspace, started,
            attempt, owner_pid, owner_started, owner_space, leg, last_seq, updated, status, ended_seq, children,
            log_sum, going, row_mark, worked, admitted, heard)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
            ?23, ?24, ?25)",
    )?;
    let TaskTail { number, progress, log_sum, going, .. } = tail;
    let (before, admitted, heard) = worked_columns(&progress.worked);
    statement.execute(params![
        number,
        origin.task_id.letters(),
        origin.parent_id.as_ref().map(TaskId::letters),
        origin.root_id.letters(),
        origin.depth,
        origin.agent,
        origin.title,
        origin.workspace,
        origin.started.0.cast_signed(),
        progress.attempt,
        progress.owner.pid,
        progress.owner.started.cast_signed(),
        progress.owner.space.cast_signed(),
        progress.leg,
        progress.last_seq.cast_signed(),
        progress.updated.0.cast_signed(),
        progress.status.map(status_word),
        progress.ended_seq.map(u64::cast_signed),
        progress.children,
        log_sum,
        going,
        tail.checksum(),
        before,
        admitted,
        heard,
    ])?;
    Ok(())
}

pub(crate) fn update(connection: &Connection, tail: &TaskTail) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE tasks SET attempt = ?2, owner_pid = ?3, owner_started = ?4, leg = ?5, last_seq = ?6, updated = ?7,
            status = ?8, ended_seq = ?9, children = ?10, log_sum = ?11, going = ?12, row_mark = ?13, owner_space = ?14,
            worked = ?15, admitted = ?16, heard = ?17
        WHERE number = ?1",
    )?;
    let TaskTail { number, progress, log_sum, going, .. } = tail;
    let (before, admitted, heard) = worked_columns(&progress.worked);
    statement.execute(params![
        number,
        progress.attempt,
        progress.owner.pid,
        progress.owner.started.cast_signed(),
        progress.leg,
        progress.last_seq.cast_signed(),
        progress.updated.0.cast_signed(),
        progress.status.map(status_word),
        progress.ended_seq.map(u64::cast_signed),
        progress.children,
        log_sum,
        going,
        tail.checksum(),
        progress.owner.space.cast_signed(),
        before,
        admitted,
        heard,
    ])?;
    Ok(())
}
