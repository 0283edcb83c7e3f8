//! Entries to append, and positions of events and commands.

use sortie_protocol::{Fact, TaskId, Timestamp};

/// A fact to record. The journal numbers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub task_id: TaskId,
    pub leg: u32,
    /// The fence: the run of the task's loop that writes this. The first entry with a higher attempt is a takeover: its
    /// process then owns the task, and all others are shut out.
    pub attempt: u32,
    pub time: Timestamp,
    /// The entry is refused unless the task's log still ends here. A process that resumes a task from what it read must
    /// not write after someone else has. `None` accepts any end.
    pub after: Option<u64>,
    pub fact: Fact,
}

/// When an append is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Once its place in the order is fixed. It survives the death of the process as soon as it is committed, which
    /// follows shortly.
    Ordered,
    /// Once it is synced to disk: required before an effect that must not happen twice, an answer that leaves the
    /// process, or a delivery.
    Synced,
}

/// Selection of events to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    All,
    /// The tree of this task, which must have no parent.
    Tree(TaskId),
}

/// A position in the whole log. Later is greater; 0 is before everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub i64);

/// The position of a command in their order. Later is greater; 0 is before all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandId(pub i64);
