//! The journal on disk: one SQLite file in WAL mode, one writer thread, readers in any process.

mod batch;
mod prune;
mod reader;
mod removal;
mod task_list;
mod task_log;
mod writer;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use sortie_protocol::{Command, Event, Job, TaskId, TaskOutcome, Timestamp};

use self::reader::Reader;
use self::writer::Writer;
use crate::database::open;
use crate::port::{
    CommandId, Durability, Entry, Journal, JournalError, Position, Pruned, Scope, Standing, TaskHeader, TaskQuery,
};

/// Default time to wait for another program's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// A journal in a SQLite file.
///
/// Any number of processes may have it open. Dropping it writes what is still queued.
#[derive(Debug)]
pub struct SqliteJournal {
    reader: Reader,
    /// Reads only commands, so that a long read does not delay them. Absent like the writer.
    listener: Option<Reader>,
    /// Absent if the journal was opened read-only.
    writer: Option<Writer>,
}

impl SqliteJournal {
    /// Opens the journal, or creates it with its directory, for its owner alone.
    ///
    /// An older format is migrated, a newer one refused.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Self::open_with_patience(path, PATIENCE)
    }

    /// Like [`open`](Self::open), with `patience` as the limit for lock waits, while opening and at each later write.
    pub fn open_with_patience(path: &Path, patience: Duration) -> Result<Self, JournalError> {
        let writer = Writer::start(path, open::for_writing(path, patience)?)?;
        let (reader, listener) = (Reader::later(path, patience), Reader::later(path, patience));
        Ok(Self { reader, listener: Some(listener), writer: Some(writer) })
    }

    /// Opens the journal for reading; every append is refused.
    ///
    /// A missing or empty file is read as an empty journal, and nothing is created.
    pub fn open_read_only(path: &Path) -> Result<Self, JournalError> {
        let connection = open::for_reading(path, PATIENCE)?;
        Ok(Self { reader: Reader::new(path, PATIENCE, connection), listener: None, writer: None })
    }

    /// The file's current format version, for maintenance.
    pub fn format_version(&self) -> Result<u32, JournalError> {
        self.reader.format_version()
    }

    /// Number of transactions committed by this journal; simultaneous appends share one.
    pub fn commits(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::commits)
    }

    fn listener(&self) -> &Reader {
        self.listener.as_ref().unwrap_or(&self.reader)
    }

    /// Corrects the headers of tasks that this process gave up without an ending.
    fn as_known_here(&self, mut headers: Vec<TaskHeader>) -> Vec<TaskHeader> {
        if let Some(writer) = &self.writer {
            for header in &mut headers {
                writer.lost().correct_header(header);
            }
        }
        headers
    }

    fn writer(&self) -> Result<&Writer, JournalError> {
        self.writer.as_ref().ok_or_else(|| JournalError::ReadOnly { path: self.reader.path().to_owned() })
    }
}

impl Journal for SqliteJournal {
    fn append(
        &self,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + '_>> {
        Box::pin(async move { self.writer()?.append(entries, durability).await })
    }

    fn read_each(&self, task: TaskId, from: u64, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        task_log::read_each(&self.reader, task, from, each)
    }

    fn read_standing(&self, standing: &Standing, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        task_log::read_standing(&self.reader, standing, each)
    }

    fn beginning(&self, task: TaskId) -> Result<Job, JournalError> {
        task_log::beginning(&self.reader, task)
    }

    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        task_log::ending(&self.reader, task)
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
            // Another process writes what a reader sees, and sends no signal.
            None => std::thread::sleep(at_most),
        }
    }

    fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError> {
        Ok(self.as_known_here(task_list::list(&self.reader, query)?))
    }

    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        Ok(self.as_known_here(task_list::find(&self.reader, prefix)?))
    }

    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        Ok(self.as_known_here(task_list::tree_headers(&self.reader, root)?))
    }

    fn standing(&self, task: TaskId) -> Result<Standing, JournalError> {
        let standing = self.reader.standing(task)?;
        Ok(self.writer.as_ref().map_or(standing, |writer| writer.lost().correct_standing(standing)))
    }

    fn shut_out(&self, task: TaskId, attempt: u32, why: &JournalError) {
        if let Some(writer) = &self.writer {
            writer.lost().shut_out(task, attempt, why);
        }
    }

    fn forsake(&self, task: TaskId, attempt: u32, why: &JournalError) {
        if let Some(writer) = &self.writer {
            writer.lost().forsake(task, attempt, why);
        }
    }

    fn send(&self, command: Command) -> Pin<Box<dyn Future<Output = Result<CommandId, JournalError>> + Send + '_>> {
        Box::pin(async move { self.writer()?.send(command).await })
    }

    fn newest_command(&self) -> Result<CommandId, JournalError> {
        self.listener().newest_command()
    }

    fn commands_after(&self, after: CommandId, limit: usize) -> Result<Vec<(CommandId, Command)>, JournalError> {
        self.listener().commands_after(after, limit)
    }

    fn prunable(&self, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError> {
        prune::prunable(&self.reader, older_than)
    }

    fn prune(&self, older_than: Timestamp, discard: &mut dyn FnMut(TaskId)) -> Result<Pruned, JournalError> {
        prune::prune(&self.reader, self.writer()?, older_than, discard)
    }
}
