//! Decides which trees of tasks may be pruned; every journal uses it.

use std::collections::{BTreeMap, HashMap, HashSet};

use sortie_protocol::{CallId, Event, Fact, FailureCode, MailMark, ReportMark, Status, TaskId, TaskOutcome, Timestamp};

use crate::port::{Holder, Kept, KeptFor, Standing, TaskHeader, TaskState};

/// The newest commands stay, whatever their task; older ones only while their task is open.
pub(crate) const COMMANDS_KEPT: i64 = 1000;

/// Evidence from a tree's events for pruning it. Events are passed task by task, parents before their children.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Legs of parents that started or resumed the child.
    asked: HashMap<TaskId, Vec<(TaskId, u32)>>,
    /// Ended legs of a child, and the task that each was delivered to.
    delivered: HashMap<TaskId, BTreeMap<u32, TaskId>>,
    /// Calls that do not wait for their child, so their output is not its report.
    beside: HashSet<(TaskId, CallId)>,
    /// Reports that a waiting call is about to return.
    answers: HashMap<(TaskId, CallId), ReportMark>,
    /// Reports that have reached a conversation.
    collected: HashSet<ReportMark>,
    /// End of each leg, and whether it was given up.
    ended: HashMap<(TaskId, u32), (Timestamp, bool)>,
}

impl Evidence {
    /// The kinds of facts used as evidence.
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

    /// Parents come before their children, so the first entry is the task that adopted a report.
    fn deliver(&mut self, child: TaskId, leg: u32, to: TaskId) {
        self.delivered.entry(child).or_default().entry(leg).or_insert(to);
    }

    fn collect(&mut self, mail: &MailMark, task: TaskId) {
        for report in &mail.reports {
            // If a child ended while no process ran its task, this is the only record of it.
            self.deliver(report.child, report.leg, task);
            self.collected.insert(*report);
        }
    }

    /// The first result in a tree that was not delivered. A leg that a person asked for is owed to no task, and a leg
    /// that was given up has no result.
    pub(crate) fn uncollected(&self, tree: &[TaskHeader]) -> Option<Kept> {
        let root = tree.first()?.task_id;
        let mut children = tree.iter().filter(|header| header.parent_id.is_some());
        children.find_map(|header| {
            let task = header.task_id;
            let by = self.unread(task).or_else(|| self.undelivered(header))?;
            Some(Kept { root, task, why: KeptFor::Uncollected { by } })
        })
    }

    /// The task that was given a report of the child and has not read it.
    fn unread(&self, child: TaskId) -> Option<TaskId> {
        let is_given_up = |leg| self.ended.get(&(child, leg)).is_some_and(|(_, is_given_up)| *is_given_up);
        let is_owed = |leg| !self.collected.contains(&ReportMark { child, leg }) && !is_given_up(leg);
        let mut delivered = self.delivered.get(&child).into_iter().flatten();
        delivered.find(|(leg, _)| is_owed(**leg)).map(|(_, by)| *by)
    }

    /// The task that waits for an ending that was not delivered. Nobody waits for a child that ended after its parent.
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

/// True if a leg was stopped, or ended because the task above could not be resumed: it has no result to deliver.
fn is_given_up(TaskOutcome { status, error, .. }: &TaskOutcome) -> bool {
    *status == Status::Cancelled || error.as_ref().is_some_and(|error| error.code == FailureCode::AboveFailed)
}

/// True if the whole tree has ended and not changed since `older_than`.
pub(crate) fn is_old(tree: &[TaskHeader], older_than: Timestamp) -> bool {
    tree.iter().all(|header| matches!(header.state, TaskState::Ended(_)) && header.updated < older_than)
}

/// The reason an old tree stays. Takes the standing and last event time of each task, the root first. A tree with a
/// visibly running task needs no reason.
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
    fn an_old_tree_with_an_open_task_that_nobody_visibly_runs_is_named() {
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
