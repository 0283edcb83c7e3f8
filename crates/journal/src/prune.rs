//! Which trees of tasks may go; the same for every journal.

use std::collections::{HashMap, HashSet};

use sortie_protocol::{Event, Fact, Status, TaskId, Timestamp};

use crate::{Holder, Standing, TaskHeader, TaskState};

/// So many of the newest commands stay, whoever they are for; those before them only as long as their task is open.
pub(crate) const COMMANDS_KEPT: i64 = 1000;

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
    /// Old trees that stay because a task of theirs has not ended, though nobody is seen to run it.
    pub kept: Vec<Kept>,
}

/// A tree that stays because of one of its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub root: TaskId,
    /// The topmost that has not ended.
    pub task: TaskId,
    /// Who has it: nobody, or a process that cannot be seen from here.
    pub holder: Holder,
}

/// What the events of a tree say about whether it may go.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The legs of parents in which a child was started, or had to go on.
    asked: HashMap<TaskId, Vec<(TaskId, u32)>>,
    /// The legs of a child whose endings a parent has been told.
    told: HashMap<TaskId, HashSet<u32>>,
    /// When legs ended.
    ended: HashMap<(TaskId, u32), Timestamp>,
}

impl Evidence {
    pub(crate) fn see(&mut self, event: &Event) {
        let leg = (event.task_id, event.leg);
        match &event.fact {
            Fact::ChildStarted { child, .. } => self.asked.entry(*child).or_default().push(leg),
            Fact::ChildEnded { child, child_leg, .. } => {
                self.told.entry(*child).or_default().insert(*child_leg);
            }
            Fact::TaskEnded { .. } => drop(self.ended.insert(leg, event.time)),
            _ => {}
        }
    }

    /// Whether every ending that a parent waits for is with it. A leg that a person asked for is owed to no parent, one that
    /// was stopped has nothing to collect, and for one that ended after its parent had nobody waited any more.
    pub(crate) fn has_all_delivered(&self, tree: &[TaskHeader]) -> bool {
        let mut children = tree.iter().filter(|header| header.parent_id.is_some());
        children.all(|header| {
            let told = self.told.get(&header.task_id).map_or(0, HashSet::len);
            let asked = self.asked.get(&header.task_id).map_or(&[][..], Vec::as_slice);
            let parents_end = asked.last().and_then(|leg| self.ended.get(leg));
            told >= asked.len().max(1)
                || header.state == TaskState::Ended(Status::Cancelled)
                || parents_end.is_some_and(|end| *end < header.updated)
        })
    }
}

/// Whether the whole tree has ended and lain still since `older_than`.
pub(crate) fn is_old(tree: &[TaskHeader], older_than: Timestamp) -> bool {
    tree.iter().all(|header| matches!(header.state, TaskState::Ended(_)) && header.updated < older_than)
}

/// What keeps an old tree, given how its tasks stand, the root first, and when each was last heard of. One that somebody is
/// seen to run needs no word.
pub(crate) fn kept(tree: &[(Standing, Timestamp)], older_than: Timestamp) -> Option<Kept> {
    let root = tree.first()?.0.task_id;
    let mut open = tree.iter().map(|(standing, _)| standing).filter(|one| !matches!(one.state, TaskState::Ended(_)));
    let is_seen = |one: &Standing| matches!(one.holder, Holder::ThisProcess | Holder::Other { .. });
    let lies_still = tree.iter().all(|(_, updated)| *updated < older_than) && !open.clone().any(is_seen);
    let Standing { task_id: task, holder, .. } = *open.next().filter(|_| lies_still)?;
    Some(Kept { root, task, holder })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(number: u8, state: TaskState, holder: Holder) -> (Standing, Timestamp) {
        let task_id = TaskId::from_random([number; 12]);
        (Standing { task_id, leg: 1, attempt: 1, state, last_seq: 1, holder }, Timestamp(1_000))
    }

    #[test]
    fn a_tree_of_which_a_task_is_open_and_not_seen_to_run_is_named_once_it_is_old() {
        let unseen = Holder::OutOfSight { pid: 7 };
        let root = standing(1, TaskState::Ended(Status::Completed), Holder::Nobody);
        let below = [standing(2, TaskState::Running, unseen), standing(3, TaskState::Running, unseen)];
        let tree = [root, below[0], below[1]];
        let named = Kept { root: root.0.task_id, task: below[0].0.task_id, holder: unseen };
        assert_eq!(kept(&tree, Timestamp(2_000)), Some(named), "the topmost that is open");
        assert_eq!(kept(&tree, Timestamp(1_000)), None, "it is young");
        assert_eq!(kept(&[root], Timestamp(2_000)), None, "it has ended");
        let interrupted = standing(2, TaskState::Interrupted, Holder::Nobody);
        assert_eq!(kept(&[root, interrupted], Timestamp(2_000)).map(|kept| kept.holder), Some(Holder::Nobody));
        let seen = standing(3, TaskState::Running, Holder::Other { pid: 8 });
        assert_eq!(kept(&[root, interrupted, seen], Timestamp(2_000)), None, "somebody runs one of them");
    }
}
