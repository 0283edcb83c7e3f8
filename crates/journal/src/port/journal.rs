//! The trait of a journal: append, read, list, command, prune.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use sortie_protocol::{Command, Event, Job, TaskId, TaskOutcome, Timestamp};

use crate::port::entry::{CommandId, Durability, Entry, Position, Scope};
use crate::port::error::JournalError;
use crate::port::pruned::Pruned;
use crate::port::standing::Standing;
use crate::port::task_header::TaskHeader;
use crate::port::task_query::TaskQuery;

/// A durable, append-only log of events, ordered within each task, and the way by which commands reach the process that
/// runs a task.
///
/// Reading blocks (it touches a disk): call it from a thread that may wait.
pub trait Journal: Send + Sync {
    /// Appends all entries or none, in this order, and numbers them within their tasks.
    ///
    /// Refused are a fact for a task that has not started, a second start, a leg that is over or has not begun, an
    /// attempt that has been shut out ([`JournalError::Fenced`]), and what was to follow another event than the last
    /// ([`JournalError::Stale`]). A refusal touches no other append, except where nobody waited for it
    /// ([`Durability::Ordered`]): then every later append of that attempt to one of its tasks gets the same refusal, so
    /// that no log has a hole that its writer does not know of.
    ///
    /// After a failed write nothing more is acknowledged: every later append fails too. A write for which there was no
    /// room, or that another program kept off, is not such a one: it is refused, and later ones are tried.
    ///
    /// Dropping the future before it is done may or may not append; it never appends half.
    fn append(
        &self,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + '_>>;

    /// All events of one task, checked against their checksums. A task that never started is an error.
    fn read(&self, task: TaskId) -> Result<Vec<Event>, JournalError> {
        let mut events = Vec::new();
        self.read_each(task, 1, &mut |event| events.push(event))?;
        Ok(events)
    }

    /// Reads the events one by one, from number `from` on, in bounded memory however long the log is. Where it is
    /// damaged, `each` has seen what stands before the damage.
    fn read_each(&self, task: TaskId, from: u64, each: &mut dyn FnMut(Event)) -> Result<(), JournalError>;

    /// Reads the whole log of a task that stands so, in the same way. Refused as [`JournalError::Stale`] is one in
    /// which others have written since: as soon as it shows, not when a long log has been read.
    fn read_standing(&self, standing: &Standing, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        let Standing { task_id: task, last_seq: read, .. } = *standing;
        let last = self.standing(task)?.last_seq;
        if last == read { self.read_each(task, 1, each) } else { Err(JournalError::Stale { task, read, last }) }
    }

    /// What a task was started as; no other event is read. A task that never started is an error.
    fn beginning(&self, task: TaskId) -> Result<Job, JournalError>;

    /// The newest ending of a task, if it has one; no other event is read.
    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError>;

    /// Events behind `after`, oldest first, at most `limit`, each checked. How displays follow a run.
    fn read_after(&self, scope: Scope, after: Position, limit: usize) -> Result<Vec<(Position, Event)>, JournalError>;

    /// Where the log ends now.
    fn end(&self) -> Result<Position, JournalError>;

    /// Waits, blocking, until this process has written something behind `after` or the time is over.
    fn wait_beyond(&self, after: Position, at_most: Duration);

    /// Headers of the newest tasks, newest first. Reads no events.
    fn tasks(&self, limit: usize) -> Result<Vec<TaskHeader>, JournalError> {
        self.list(&TaskQuery { limit, ..TaskQuery::default() })
    }

    /// Headers of the tasks that are asked for, newest first. Reads no events.
    fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError>;

    /// Headers of all tasks whose id begins with `prefix` (with or without `agent-`), oldest first.
    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError>;

    /// Headers of a task and all its descendants, the task first, in order of starting, so that parents stand before
    /// their children. A task that never started is an error.
    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError>;

    /// How far a task has come and who has it: what is asked before it is resumed. Never waits for a writer.
    fn standing(&self, task: TaskId) -> Result<Standing, JournalError>;

    /// An attempt of this process cannot go on, since something that it has to tell of was not taken. Each of its later
    /// appends gets the same refusal.
    fn shut_out(&self, _task: TaskId, _attempt: u32, _why: &JournalError) {}

    /// Shuts out an attempt that has ended already, without a recorded ending. For this process nobody has the task any
    /// more: it is interrupted, as after a crash. Others see this process at work on it until somebody goes on with it,
    /// or it ends.
    fn forsake(&self, _task: TaskId, _attempt: u32, _why: &JournalError) {}

    /// Leaves a command for whoever runs its task, and waits until it is on disk. That it was left says nothing about
    /// whether anybody reads it; what came of it stands in the task's log.
    fn send(&self, command: Command) -> Pin<Box<dyn Future<Output = Result<CommandId, JournalError>> + Send + '_>>;

    /// The newest command: behind it a new owner begins to look.
    fn newest_command(&self) -> Result<CommandId, JournalError>;

    /// Commands behind `after`, oldest first, at most `limit`, for whichever task. Cheap enough to be asked many times
    /// a second, and not held up by other readers.
    fn commands_after(&self, after: CommandId, limit: usize) -> Result<Vec<(CommandId, Command)>, JournalError>;

    /// Headers of the tasks that [`prune`](Self::prune) would remove now, trees that are damaged left out.
    fn prunable(&self, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError>;

    /// Removes whole trees of tasks in which nothing has happened since `older_than`. Blocks; others write in between.
    ///
    /// A tree stays as long as a member runs, is interrupted, or has ended, other than by being stopped, with a result
    /// that has not reached the conversation of the task that asked for it, or of the one that has adopted it.
    /// `discard` is given each task of a removed tree, before the tree is gone for good, so that what it had spilled to
    /// files goes, too: after a crash in between the next pruning gives it again.
    fn prune(&self, older_than: Timestamp, discard: &mut dyn FnMut(TaskId)) -> Result<Pruned, JournalError>;
}
