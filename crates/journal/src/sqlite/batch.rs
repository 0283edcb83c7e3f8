//! The appends and commands of one transaction. Each is carried out whole or refused whole; a refusal does not affect
//! the others.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Transaction, params};
use sortie_protocol::{Command, Fact, TaskId, VERSION};

use crate::database::error::{DatabaseError, Doing};
use crate::database::event_checksum::EventChecksum;
use crate::database::row::{StoredEvent, TaskTail};
use crate::database::row_checksum::RowChecksum;
use crate::database::task_row;
use crate::database::totals::Totals;
use crate::port::{CommandId, Entry, JournalError, Position};
use crate::tasks::append_plan::plan;
use crate::tasks::owner::Owner;
use crate::tasks::progress::Origin;
use crate::tasks::prune_evidence::COMMANDS_KEPT;

/// An entry with its fact encoded, which happens before the writer sees it.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) entry: Entry,
    body: String,
}

/// A command in its stored form.
#[derive(Debug)]
pub(super) struct Letter {
    task: TaskId,
    body: String,
}

/// Changes of one transaction so far. Task rows are read once, and written once at the end.
pub(super) struct Batch<'a> {
    path: &'a Path,
    transaction: &'a Transaction<'a>,
    owner: Owner,
    totals: Totals,
    tails: HashMap<TaskId, Tail>,
    started: Vec<Origin>,
    /// True if it contains a command.
    has_sent: bool,
}

/// The end of a task's log.
struct Tail {
    row: TaskTail,
    /// True if the file counts it as open.
    counted_open: bool,
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

impl Letter {
    pub(super) fn encode(command: &Command) -> Result<Self, JournalError> {
        let task = command.task().ok_or_else(JournalError::unknown_command)?;
        match serde_json::to_string(command) {
            Ok(body) => Ok(Self { task, body }),
            Err(error) => Err(JournalError::Write { cause: format!("a command has no JSON form: {error}") }),
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn begin(path: &'a Path, transaction: &'a Transaction<'a>, owner: Owner) -> Result<Self, DatabaseError> {
        let totals = Totals::load(transaction)?;
        Ok(Self { path, transaction, owner, totals, tails: HashMap::new(), started: Vec::new(), has_sent: false })
    }

    /// Carries out one append, or returns its refusal. The outer error is about the file and ends the batch.
    pub(super) fn append(&mut self, drafts: &[Draft]) -> Result<Result<(), JournalError>, DatabaseError> {
        for draft in drafts {
            let parent = match &draft.entry.fact {
                Fact::TaskStarted { job } => job.parent,
                _ => None,
            };
            for task in [Some(draft.entry.task_id), parent].into_iter().flatten() {
                if let Err(refusal) = self.load(task)? {
                    return Ok(Err(refusal));
                }
            }
        }
        let known = |task| self.tails.get(&task).map(|tail| tail.row.progress);
        let plan = match plan(drafts.iter().map(|draft| &draft.entry), self.owner, known) {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Err(refusal)),
        };
        for origin in plan.started {
            if let Some(&progress) = plan.progress.get(&origin.task_id) {
                self.totals.tasks += 1;
                self.totals.number += 1;
                let row = TaskTail {
                    number: self.totals.number,
                    origin_mark: RowChecksum::of_origin(&origin),
                    progress,
                    log_sum: EventChecksum::of_origin(&origin),
                    going: false,
                };
                self.tails.insert(origin.task_id, Tail { row, counted_open: false, changed: true });
                self.started.push(origin);
            }
        }
        for (draft, seq) in drafts.iter().zip(plan.seqs) {
            self.write(draft, seq)?;
        }
        for (task, progress) in plan.progress {
            if let Some(tail) = self.tails.get_mut(&task) {
                tail.row.progress = progress;
                tail.changed = true;
            }
        }
        Ok(Ok(()))
    }

    /// Stores a command, or returns its refusal.
    pub(super) fn send(&mut self, letter: &Letter) -> Result<Result<CommandId, JournalError>, DatabaseError> {
        if let Err(refusal) = self.load(letter.task)? {
            return Ok(Err(refusal));
        }
        if !self.tails.contains_key(&letter.task) {
            return Ok(Err(JournalError::NoSuchTask { asked: letter.task.to_string() }));
        }
        self.totals.command += 1;
        let (number, task) = (self.totals.command, letter.task.letters());
        let mut insert = self
            .transaction
            .prepare_cached("INSERT INTO commands (number, task, mark, body) VALUES (?1, ?2, ?3, ?4)")?;
        insert.execute(params![number, task, RowChecksum::of_command(number, task, &letter.body), letter.body])?;
        self.has_sent = true;
        Ok(Ok(CommandId(number)))
    }

    /// Writes the rows of the touched tasks, deletes old commands, and returns the new end of the log.
    pub(super) fn finish(mut self) -> rusqlite::Result<Position> {
        for tail in self.tails.values() {
            let open = tail.row.progress.status.is_none();
            self.totals.open += i64::from(open) - i64::from(tail.counted_open);
        }
        for origin in &self.started {
            if let Some(tail) = self.tails.remove(&origin.task_id) {
                task_row::insert(self.transaction, origin, &tail.row)?;
            }
        }
        for tail in self.tails.values().filter(|tail| tail.changed) {
            task_row::update(self.transaction, &tail.row)?;
        }
        if self.has_sent {
            self.forget_commands()?;
        }
        self.totals.store(self.transaction)?;
        Ok(Position(self.totals.position))
    }

    /// Runs once per batch, because it looks at every command whose task has not ended.
    fn forget_commands(&self) -> rusqlite::Result<()> {
        let mut remove = self.transaction.prepare_cached(
            "DELETE FROM commands WHERE number <= ?1
            AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.task = commands.task AND t.status IS NULL)",
        )?;
        remove.execute([self.totals.command - COMMANDS_KEPT]).map(drop)
    }

    /// Loads a task, if it exists. Entries for a damaged task, or for one being pruned, are refused without affecting
    /// the rest of the batch.
    fn load(&mut self, task: TaskId) -> Result<Result<(), JournalError>, DatabaseError> {
        if self.tails.contains_key(&task) {
            return Ok(Ok(()));
        }
        let row = match task_row::find(self.transaction, task) {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(Ok(())),
            Err(damage @ (DatabaseError::Damage(_) | DatabaseError::Journal(_))) => {
                return Ok(Err(Doing::Writing.failed(self.path, damage)));
            }
            Err(failure) => return Err(failure),
        };
        if row.tail.going {
            return Ok(Err(JournalError::NoSuchTask { asked: task.to_string() }));
        }
        let counted_open = row.tail.progress.status.is_none();
        self.tails.insert(task, Tail { row: row.tail, counted_open, changed: false });
        Ok(Ok(()))
    }

    fn write(&mut self, draft: &Draft, seq: u64) -> rusqlite::Result<()> {
        let Some(tail) = self.tails.get_mut(&draft.entry.task_id) else { return Ok(()) };
        let entry = &draft.entry;
        self.totals.position += 1;
        let event = StoredEvent {
            position: self.totals.position,
            task: entry.task_id.letters().as_bytes(),
            seq: seq.cast_signed(),
            leg: i64::from(entry.leg),
            time: entry.time.0.cast_signed(),
            version: i64::from(VERSION),
            kind: entry.fact.kind().as_bytes(),
            body: draft.body.as_bytes(),
        };
        tail.row.log_sum = event.checksum(tail.row.log_sum);
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
            tail.row.log_sum,
        ])?;
        Ok(())
    }
}
