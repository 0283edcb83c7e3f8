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

/// A durable, append-only log of events, ordered within each task. It also carries commands to the process that runs a
/// task.
///
/// Reading blocks (it touches a disk): call it from a thread that may wait.
pub trait Journal: Send + Sync {
    /// Appends all entries or none, in this order, and numbers them within their tasks.
    ///
    /// Refuses:
    /// - a fact for a task that has not started, and a second start;
    /// - a fact for a leg that is over or has not begun;
    /// - an attempt that was shut out ([`JournalError::Fenced`]);
    /// - an entry whose `after` is no longer the end of the log ([`JournalError::Stale`]).
    ///
    /// A refusal affects no other append, unless nobody waited for it ([`Durability::Ordered`]). Every later append of
    /// that attempt to the same task is then also refused, so that no log has a hole unknown to its writer.
    ///
    /// After a failed write nothing more is acknowledged: every later append also fails. A full disk or another
    /// program's lock does not count as such: that write is refused, and later ones are tried.
    ///
    /// A future dropped early may or may not append; it never appends half.
    fn append(
        &self,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + '_>>;

    /// Reads all events of one task and verifies their checksums. A task that never started is an error.
    fn read(&self, task: TaskId) -> Result<Vec<Event>, JournalError> {
        let mut events = Vec::new();
        self.read_each(task, 1, &mut |event| events.push(event))?;
        Ok(events)
    }

    /// Reads events one by one, starting at number `from`, in bounded memory however long the log is. If the log is
    /// damaged, `each` has seen everything before the damage.
    fn read_each(&self, task: TaskId, from: u64, each: &mut dyn FnMut(Event)) -> Result<(), JournalError>;

    /// Reads the whole log of a task with this standing, one event at a time. Refused as [`JournalError::Stale`] as
    /// soon as it shows that others have written since.
    fn read_standing(&self, standing: &Standing, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        let Standing { task_id: task, last_seq: read, .. } = *standing;
        let last = self.standing(task)?.last_seq;
        if last == read { self.read_each(task, 1, each) } else { Err(JournalError::Stale { task, read, last }) }
    }

    /// The job that a task was started with; reads no other event. A task that never started is an error.
    fn beginning(&self, task: TaskId) -> Result<Job, JournalError>;

    /// The newest ending of a task, if it has one; reads no other event.
    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError>;

    /// Events after `after`, oldest first, at most `limit`, all verified. Displays follow a run with this.
    fn read_after(&self, scope: Scope, after: Position, limit: usize) -> Result<Vec<(Position, Event)>, JournalError>;

    /// The current end of the log.
    fn end(&self) -> Result<Position, JournalError>;

    /// Blocks until this process has written something after `after`, or until the time is up.
    fn wait_beyond(&self, after: Position, at_most: Duration);

    /// Headers of the newest tasks, newest first. Reads no events.
    fn tasks(&self, limit: usize) -> Result<Vec<TaskHeader>, JournalError> {
        self.list(&TaskQuery { limit, ..TaskQuery::default() })
    }

    /// Headers of the tasks that match the query, newest first. Reads no events.
    fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError>;

    /// Headers of all tasks whose id begins with `prefix` (with or without `agent-`), oldest first.
    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError>;

    /// Headers of a task and all its descendants in order of starting, so that parents come before their children. A
    /// task that never started is an error.
    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError>;

    /// Progress of a task and the process that runs it, as needed before a resume. Never waits for a writer.
    fn standing(&self, task: TaskId) -> Result<Standing, JournalError>;

    /// Shuts out an attempt of this process because one of its entries was lost. Each of its later appends gets the
    /// same refusal.
    fn shut_out(&self, _task: TaskId, _attempt: u32, _why: &JournalError) {}

    /// Shuts out an attempt that stopped without a recorded ending. For this process the task is now interrupted, as
    /// after a crash. Other processes see this one as still running it until the task is resumed or this process ends.
    fn forsake(&self, _task: TaskId, _attempt: u32, _why: &JournalError) {}

    /// Leaves a command for the process that runs its task, and waits until it is on disk. This does not mean that
    /// anybody reads it; the task's log shows what came of it.
    fn send(&self, command: Command) -> Pin<Box<dyn Future<Output = Result<CommandId, JournalError>> + Send + '_>>;

    /// The newest command. A new owner looks only at later ones.
    fn newest_command(&self) -> Result<CommandId, JournalError>;

    /// Commands of all tasks after `after`, oldest first, at most `limit`. Cheap enough to call many times a second,
    /// and not delayed by other readers.
    fn commands_after(&self, after: CommandId, limit: usize) -> Result<Vec<(CommandId, Command)>, JournalError>;

    /// Headers of the tasks that [`prune`](Self::prune) would remove now, without damaged trees.
    fn prunable(&self, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError>;

    /// Removes whole trees of tasks in which nothing has happened since `older_than`. Blocks; others can write in
    /// between.
    ///
    /// A tree stays while a task in it runs or is interrupted. It also stays while a result has not reached the
    /// conversation of the task that asked for it or adopted it. Results of stopped legs do not count. `discard` gets
    /// each task of a removed tree before the tree is gone for good, to delete the task's spilled files. After a crash
    /// in between, the next pruning passes it again.
    fn prune(&self, older_than: Timestamp, discard: &mut dyn FnMut(TaskId)) -> Result<Pruned, JournalError>;
}
