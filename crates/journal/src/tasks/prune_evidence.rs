//! Decides which trees of tasks may be pruned; every journal asks here.

use std::collections::{BTreeMap, HashMap, HashSet};

use sortie_protocol::{CallId, Event, Fact, FailureCode, MailMark, ReportMark, Status, TaskId, TaskOutcome, Timestamp};

use crate::port::{Holder, Kept, KeptFor, Standing, TaskHeader, TaskState};

/// So many of the newest commands stay, whoever they are for; those before them only as long as their task is open.
pub(crate) const COMMANDS_KEPT: i64 = 1000;

/// What the events of a tree say about whether it may go. They come task by task, parents before their children.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The legs of parents in which a child was started, or had to go on.
    asked: HashMap<TaskId, Vec<(TaskId, u32)>>,
    /// The legs of a child that have ended for somebody else, and for whom.
    delivered: HashMap<TaskId, BTreeMap<u32, TaskId>>,
    /// Calls of a task that do not wait for their child: what they return is not its report.
    beside: HashSet<(TaskId, CallId)>,
    /// The reports that a call waiting for them is about to return.
    answers: HashMap<(TaskId, CallId), ReportMark>,
    /// What has reached a conversation.
    collected: HashSet<ReportMark>,
    /// When legs ended, and whether they were given up.
    ended: HashMap<(TaskId, u32), (Timestamp, bool)>,
}

impl Evidence {
    /// The facts that it is made of.
    pub(crate) const KINDS: &[&str] = &[
        "child_started",
        "child_released",
        "child_adopted",
        "child_ended",
        "call_finished",
        "mail_read",
        "task_ended",
    ];

    pub(crate) fn see(&mut self, event: &Event) {
        let (task, leg) = (event.task_id, (event.task_id, event.leg));
        match &event.fact {
            Fact::ChildStarted { call, child, background } => {
                self.asked.entry(*child).or_default().push(leg);
                self.beside.extend(background.then(|| (task, call.clone())));
            }
            Fact::ChildReleased { call, .. } => drop(self.beside.insert((task, call.clone()))),
            Fact::ChildAdopted { child, ended_leg: Some(leg) } => self.deliver(*child, *leg, task),
            Fact::ChildEnded { call, child, child_leg } => {
                self.deliver(*child, *child_leg, task);
                let call = (task, call.clone());
                if !self.beside.contains(&call) {
                    self.answers.insert(call, ReportMark { child: *child, leg: *child_leg });
                }
            }
            Fact::CallFinished { output, .. } => {
                self.collected.extend(self.answers.remove(&(task, output.call.clone())));
                self.collect(&output.output.mail, task);
            }
            Fact::MailRead { mail, .. } => self.collect(mail, task),
            Fact::TaskEnded { outcome } => drop(self.ended.insert(leg, (event.time, is_given_up(outcome)))),
            _ => {}
        }
    }

    /// Parents come before their children, so the first is the one that has adopted a report.
    fn deliver(&mut self, child: TaskId, leg: u32, to: TaskId) {
        self.delivered.entry(child).or_default().entry(leg).or_insert(to);
    }

    fn collect(&mut self, mail: &MailMark, task: TaskId) {
        for report in &mail.reports {
            // Of one that somebody ended while nobody ran the task there is no word but this.
            self.deliver(report.child, report.leg, task);
            self.collected.insert(*report);
        }
    }

    /// The first result of a tree that somebody is still to have. A leg that a person asked for is owed to no task, and
    /// one that was given up has nothing to collect.
    pub(crate) fn uncollected(&self, tree: &[TaskHeader]) -> Option<Kept> {
        let root = tree.first()?.task_id;
        let mut children = tree.iter().filter(|header| header.parent_id.is_some());
        children.find_map(|header| {
            let task = header.task_id;
            let by = self.unread(task).or_else(|| self.undelivered(header))?;
            Some(Kept { root, task, why: KeptFor::Uncollected { by } })
        })
    }

    /// Who has a report of a child before it, and has not read it.
    fn unread(&self, child: TaskId) -> Option<TaskId> {
        let is_given_up = |leg| self.ended.get(&(child, leg)).is_some_and(|(_, is_given_up)| *is_given_up);
        let is_owed = |leg| !self.collected.contains(&ReportMark { child, leg }) && !is_given_up(leg);
        let mut delivered = self.delivered.get(&child).into_iter().flatten();
        delivered.find(|(leg, _)| is_owed(**leg)).map(|(_, by)| *by)
    }

    /// Who waits for an ending that has not come: for one that ended after its parent had, nobody waits any more.
    fn undelivered(&self, header: &TaskHeader) -> Option<TaskId> {
        let delivered = self.delivered.get(&header.task_id).map_or(0, BTreeMap::len);
        let asked = self.asked.get(&header.task_id).map_or(&[][..], Vec::as_slice);
        let parents_end = asked.last().and_then(|leg| self.ended.get(leg));
        let is_owed = delivered < asked.len().max(1)
            && header.state != TaskState::Ended(Status::Cancelled)
            && parents_end.is_none_or(|(end, _)| *end >= header.updated);
        header.parent_id.filter(|_| is_owed)
    }
}

/// Whether a leg was stopped, or ended because the one above it could not go on: it has nothing to collect.
fn is_given_up(TaskOutcome { status, error, .. }: &TaskOutcome) -> bool {
    *status == Status::Cancelled || error.as_ref().is_some_and(|error| error.code == FailureCode::AboveFailed)
}

/// Whether the whole tree has ended and lain still since `older_than`.
pub(crate) fn is_old(tree: &[TaskHeader], older_than: Timestamp) -> bool {
    tree.iter().all(|header| matches!(header.state, TaskState::Ended(_)) && header.updated < older_than)
}

/// What keeps an old tree, given how its tasks stand, the root first, and when each was last heard of. One that
/// somebody is seen to run needs no word.
pub(crate) fn kept(tree: &[(Standing, Timestamp)], older_than: Timestamp) -> Option<Kept> {
    let root = tree.first()?.0.task_id;
    let mut open = tree.iter().map(|(standing, _)| standing).filter(|one| !matches!(one.state, TaskState::Ended(_)));
    let is_seen = |one: &Standing| matches!(one.holder, Holder::ThisProcess | Holder::Other { .. });
    let lies_still = tree.iter().all(|(_, updated)| *updated < older_than) && !open.clone().any(is_seen);
    let Standing { task_id: task, holder, .. } = *open.next().filter(|_| lies_still)?;
    Some(Kept { root, task, why: KeptFor::Open { holder } })
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
        let named = Kept { root: root.0.task_id, task: below[0].0.task_id, why: KeptFor::Open { holder: unseen } };
        assert_eq!(kept(&tree, Timestamp(2_000)), Some(named), "the topmost that is open");
        assert_eq!(kept(&tree, Timestamp(1_000)), None, "it is young");
        assert_eq!(kept(&[root], Timestamp(2_000)), None, "it has ended");
        let interrupted = standing(2, TaskState::Interrupted, Holder::Nobody);
        let nobodys = KeptFor::Open { holder: Holder::Nobody };
        assert_eq!(kept(&[root, interrupted], Timestamp(2_000)).map(|kept| kept.why), Some(nobodys));
        let seen = standing(3, TaskState::Running, Holder::Other { pid: 8 });
        assert_eq!(kept(&[root, interrupted, seen], Timestamp(2_000)), None, "somebody runs one of them");
    }
}
