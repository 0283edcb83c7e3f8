//! Entries to append, and places in the log and among the commands.

use sortie_protocol::{Fact, TaskId, Timestamp};

/// A fact to be recorded. The journal numbers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub task_id: TaskId,
    pub leg: u32,
    /// The fence: which run of the task's loop writes this. The first entry with a higher attempt is a takeover: its
    /// process owns the task from then on, and all others are shut out.
    pub attempt: u32,
    pub time: Timestamp,
    /// Where the task's log must still end for this to be appended: whoever goes on with what it has read must not go
    /// on where others have written since. `None`: wherever it ends.
    pub after: Option<u64>,
    pub fact: Fact,
}

/// What an append waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Its place in the order. Survives the death of the process as soon as it is committed, which follows shortly.
    Ordered,
    /// The sync to disk: asked for before an effect that must not happen twice, an answer that leaves the process,
    /// or a delivery.
    Synced,
}

/// Whose events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    All,
    /// The tree below this task, itself included, which must have no parent.
    Tree(TaskId),
}

/// A place in the whole log. Later is greater; 0 is before everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub i64);

/// The place of a command in their order. Later is greater; 0 is before all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandId(pub i64);
