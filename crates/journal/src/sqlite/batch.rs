//! One transaction's worth of appends. Each is carried out whole or refused whole; a refusal leaves the others alone.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction, params};
use sortie_protocol::{TaskId, VERSION};

use super::row::{self, StoredEvent};
use super::sum::Sum;
use crate::owner::Owner;
use crate::plan::plan;
use crate::task::{Origin, Progress};
use crate::{Entry, JournalError, Position};

/// An entry with its fact encoded, which happens before the writer sees it.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) entry: Entry,
    body: String,
}

/// The appends of one transaction so far. Rows of tasks are read once and written once, at the end.
pub(super) struct Batch<'a> {
    transaction: &'a Transaction<'a>,
    owner: Owner,
    end: Position,
    tails: HashMap<TaskId, Tail>,
    started: Vec<Origin>,
}

/// Where the log of a task ends.
struct Tail {
    progress: Progress,
    sum: Sum,
    changed: bool,
}

impl Draft {
    pub(super) fn encode(entry: Entry) -> Result<Self, JournalError> {
        match serde_json::to_string(&entry.fact) {
            Ok(body) => Ok(Self { entry, body }),
            Err(error) => Err(JournalError::Write { cause: format!("a fact has no JSON form: {error}") }),
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn begin(transaction: &'a Transaction<'a>, owner: Owner) -> rusqlite::Result<Self> {
        let end = transaction
            .prepare_cached("SELECT coalesce(max(position), 0) FROM events")?
            .query_row((), |row| row.get(0).map(Position))?;
        Ok(Self { transaction, owner, end, tails: HashMap::new(), started: Vec::new() })
    }

    /// Carries out one append, or says why it is refused. The outer error is SQLite's and ends the batch.
    pub(super) fn append(&mut self, drafts: &[Draft]) -> rusqlite::Result<Result<(), JournalError>> {
        for draft in drafts {
            self.load(draft.entry.task_id)?;
        }
        let known = |task| self.tails.get(&task).map(|tail| tail.progress);
        let plan = match plan(drafts.iter().map(|draft| &draft.entry), self.owner, known) {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Err(refusal)),
        };
        for origin in plan.started {
            if let Some(&progress) = plan.progress.get(&origin.task_id) {
                let sum = Sum::of_origin(&origin);
                self.tails.insert(origin.task_id, Tail { progress, sum, changed: true });
                self.started.push(origin);
            }
        }
        for (draft, seq) in drafts.iter().zip(plan.seqs) {
            self.write(draft, seq)?;
        }
        for (task, progress) in plan.progress {
            if let Some(tail) = self.tails.get_mut(&task) {
                tail.progress = progress;
                tail.changed = true;
            }
        }
        Ok(Ok(()))
    }

    /// Writes the rows of the touched tasks and returns where the log now ends.
    pub(super) fn finish(mut self) -> rusqlite::Result<Position> {
        for origin in &self.started {
            if let Some(tail) = self.tails.remove(&origin.task_id) {
                insert_task(self.transaction, origin, &tail)?;
            }
        }
        for (task, tail) in self.tails.iter().filter(|(_, tail)| tail.changed) {
            update_task(self.transaction, *task, tail)?;
        }
        Ok(self.end)
    }

    fn load(&mut self, task: TaskId) -> rusqlite::Result<()> {
        if self.tails.contains_key(&task) {
            return Ok(());
        }
        let tail = self
            .transaction
            .prepare_cached(
                "SELECT attempt, owner_pid, owner_started, leg, last_seq, updated, status, last_sum
                FROM tasks WHERE task = ?1",
            )?
            .query_row([task.letters()], |row| {
                Ok(Tail { progress: row::progress(row, 0)?, sum: row.get(7)?, changed: false })
            })
            .optional()?;
        self.tails.extend(tail.map(|tail| (task, tail)));
        Ok(())
    }

    fn write(&mut self, draft: &Draft, seq: u64) -> rusqlite::Result<()> {
        let Some(tail) = self.tails.get_mut(&draft.entry.task_id) else { return Ok(()) };
        let entry = &draft.entry;
        self.end.0 += 1;
        let event = StoredEvent {
            position: self.end.0,
            task: entry.task_id.letters().as_bytes(),
            seq: seq.cast_signed(),
            leg: i64::from(entry.leg),
            time: entry.time.0.cast_signed(),
            version: i64::from(VERSION),
            kind: entry.fact.kind().as_bytes(),
            body: draft.body.as_bytes(),
        };
        tail.sum = Sum::of_event(tail.sum, &event);
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO events (position, task, seq, leg, time, version, kind, body, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        statement.execute(params![
            event.position,
            entry.task_id.letters(),
            event.seq,
            event.leg,
            event.time,
            event.version,
            entry.fact.kind(),
            draft.body,
            tail.sum,
        ])?;
        Ok(())
    }
}

fn insert_task(transaction: &Transaction<'_>, origin: &Origin, tail: &Tail) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO tasks (task, parent, root, depth, agent, title, workspace, started,
            attempt, owner_pid, owner_started, leg, last_seq, updated, status, last_sum)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    let Tail { progress, sum, .. } = tail;
    statement.execute(params![
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
        progress.leg,
        progress.last_seq.cast_signed(),
        progress.updated.0.cast_signed(),
        progress.status.map(|status| status.to_string()),
        sum,
    ])?;
    Ok(())
}

fn update_task(transaction: &Transaction<'_>, task: TaskId, tail: &Tail) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "UPDATE tasks SET attempt = ?2, owner_pid = ?3, owner_started = ?4, leg = ?5, last_seq = ?6, updated = ?7,
            status = ?8, last_sum = ?9
        WHERE task = ?1",
    )?;
    let Tail { progress, sum, .. } = tail;
    statement.execute(params![
        task.letters(),
        progress.attempt,
        progress.owner.pid,
        progress.owner.started.cast_signed(),
        progress.leg,
        progress.last_seq.cast_signed(),
        progress.updated.0.cast_signed(),
        progress.status.map(|status| status.to_string()),
        sum,
    ])?;
    Ok(())
}
