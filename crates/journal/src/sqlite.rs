//! The journal on disk: one SQLite file in WAL mode, one writer thread, readers in any process.
//!
//! This file is the front; `open` finds or makes the file, `schema` says what is in it, `writer` and `batch` write,
//! `reader` and `row` read, `sum` guards the rows, `failure` gives SQLite's errors our words.

mod batch;
mod failure;
mod open;
mod reader;
mod row;
mod schema;
mod sum;
mod writer;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use sortie_protocol::{Event, TaskId, TaskOutcome};

use self::reader::Reader;
use self::writer::Writer;
use crate::{Durability, Entry, Journal, JournalError, Position, Scope, TaskHeader};

/// How long a lock of another program is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A journal in a SQLite file.
///
/// Any number of processes may have it open. Dropping it writes what is still queued.
#[derive(Debug)]
pub struct SqliteJournal {
    reader: Reader,
    /// Absent when the journal was opened for reading only.
    writer: Option<Writer>,
}

impl SqliteJournal {
    /// Opens the journal, or makes it, together with its directory, readable by nobody else.
    ///
    /// An older format is migrated, a newer one refused.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Self::open_with_patience(path, PATIENCE)
    }

    /// Like [`open`](Self::open), with another bound on waiting for locks: while opening, and at each later write.
    pub fn open_with_patience(path: &Path, patience: Duration) -> Result<Self, JournalError> {
        let writer = Writer::start(path, open::for_writing(path, patience)?)?;
        Ok(Self { reader: Reader::later(path, patience), writer: Some(writer) })
    }

    /// Opens the journal for reading; every append is refused.
    ///
    /// A file that does not exist, or holds nothing yet, is read as an empty journal, and nothing is created.
    pub fn open_read_only(path: &Path) -> Result<Self, JournalError> {
        let connection = open::for_reading(path, PATIENCE)?;
        Ok(Self { reader: Reader::new(path, PATIENCE, connection), writer: None })
    }

    /// The version of the format in which the file is now, for whoever looks after it.
    pub fn format_version(&self) -> Result<u32, JournalError> {
        self.reader.format_version()
    }

    /// How many transactions this journal has committed: what appends that came together have shared.
    pub fn commits(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::commits)
    }
}

impl Journal for SqliteJournal {
    fn append(
        &self,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + '_>> {
        Box::pin(async move {
            match &self.writer {
                Some(writer) => writer.append(entries, durability).await,
                None => Err(JournalError::ReadOnly { path: self.reader.path().to_owned() }),
            }
        })
    }

    fn read(&self, task: TaskId) -> Result<Vec<Event>, JournalError> {
        self.reader.read(task)
    }

    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        self.reader.ending(task)
    }

    fn read_after(&self, scope: Scope, after: Position, limit: usize) -> Result<Vec<(Position, Event)>, JournalError> {
        self.reader.read_after(scope, after, limit)
    }

    fn end(&self) -> Result<Position, JournalError> {
        self.reader.end()
    }

    fn wait_beyond(&self, after: Position, at_most: Duration) {
        match &self.writer {
            Some(writer) => writer.wait_beyond(after, at_most),
            // Others write what a reader sees, and they send no signal.
            None => std::thread::sleep(at_most),
        }
    }

    fn tasks(&self, limit: usize) -> Result<Vec<TaskHeader>, JournalError> {
        self.reader.tasks(limit)
    }

    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        self.reader.find(prefix)
    }

    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        self.reader.tree(root)
    }
}
