//! The result of a pruning: what was removed, what stays, and why.

use sortie_protocol::TaskId;

use crate::port::standing::Holder;

/// Removed tasks, and trees that could not be removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Tasks, always whole trees. If several processes prune at once, each lists only those that it removed itself.
    pub tasks: Vec<TaskId>,
    pub events: u64,
    /// Size of the removed events. The file does not shrink; the space is reused.
    pub bytes: u64,
    /// Roots of old trees that stay because their log is damaged.
    pub damaged: Vec<TaskId>,
    /// Old trees that stay because a task has not ended, though no process visibly runs it, or because a result was not
    /// delivered.
    pub kept: Vec<Kept>,
}

/// A tree that stays because of one of its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub root: TaskId,
    /// The topmost open task; otherwise the first with an uncollected result.
    pub task: TaskId,
    pub why: KeptFor,
}

/// Reason why a task keeps its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptFor {
    /// It has not ended. It belongs to nobody, or to a process that is not visible from here.
    Open { holder: Holder },
    /// It has ended, and the task that asked for its result has not received it.
    Uncollected { by: TaskId },
}
