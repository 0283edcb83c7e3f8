//! The result of a pruning: what was removed, and what stays and why.

use sortie_protocol::TaskId;

use crate::port::standing::Holder;

/// What was removed, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Tasks, of whole trees. Where several prune at once, each has those that it has removed itself.
    pub tasks: Vec<TaskId>,
    pub events: u64,
    /// Of the events. A file keeps its size; the room is filled again.
    pub bytes: u64,
    /// Roots of old trees that stay because their log is damaged.
    pub damaged: Vec<TaskId>,
    /// Old trees that stay because a task of theirs has not ended, though nobody is seen to run it, or because somebody
    /// has not had a result.
    pub kept: Vec<Kept>,
}

/// A tree that stays because of one of its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub root: TaskId,
    /// The topmost that has not ended; else the first whose result lies there.
    pub task: TaskId,
    pub why: KeptFor,
}

/// Why a task keeps its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptFor {
    /// It has not ended. Who has it: nobody, or a process that cannot be seen from here.
    Open { holder: Holder },
    /// It has ended, and the one that asked for its result has not had it.
    Uncollected { by: TaskId },
}
