//! Which trees of tasks may go; the same for every journal.

use std::collections::{HashMap, HashSet};

use sortie_protocol::{Fact, Status, TaskId, Timestamp};

use crate::{TaskHeader, TaskState};

/// So many of the newest commands stay, whoever they are for; those before them only as long as their task is open.
pub(crate) const COMMANDS_KEPT: i64 = 1000;

/// What was removed, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Tasks, of whole trees.
    pub tasks: u64,
    pub events: u64,
    /// Of the events. A file keeps its size; the room is filled again.
    pub bytes: u64,
    /// Roots of old trees that stay because their log is damaged.
    pub damaged: Vec<TaskId>,
}

/// What the events of a tree say about whether it may go.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// How often a parent has started a child, or had it go on.
    asked: HashMap<TaskId, usize>,
    /// The legs of a child whose endings a parent has been told.
    told: HashMap<TaskId, HashSet<u32>>,
}

impl Evidence {
    pub(crate) fn see(&mut self, fact: &Fact) {
        match fact {
            Fact::ChildStarted { child, .. } => *self.asked.entry(*child).or_default() += 1,
            Fact::ChildEnded { child, child_leg, .. } => {
                self.told.entry(*child).or_default().insert(*child_leg);
            }
            _ => {}
        }
    }

    /// Whether every ending that a parent waits for is with it. A leg that a person asked for is owed to no parent, and
    /// one that was stopped has nothing to collect.
    pub(crate) fn has_all_delivered(&self, tree: &[TaskHeader]) -> bool {
        let mut children = tree.iter().filter(|header| header.parent_id.is_some());
        children.all(|header| {
            let told = self.told.get(&header.task_id).map_or(0, HashSet::len);
            let asked = self.asked.get(&header.task_id).copied().unwrap_or(1);
            told >= asked || header.state == TaskState::Ended(Status::Cancelled)
        })
    }
}

/// Whether the whole tree has ended and lain still since `older_than`.
pub(crate) fn is_old(tree: &[TaskHeader], older_than: Timestamp) -> bool {
    tree.iter().all(|header| matches!(header.state, TaskState::Ended(_)) && header.updated < older_than)
}
