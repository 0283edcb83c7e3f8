//! The origin and the progress of a task, which a journal keeps in addition to its events.

use sortie_protocol::{Fact, Job, Status, TaskId, Timestamp};

use crate::port::{Entry, Holder, JournalError, Standing, TaskHeader, TaskState, Worked};
use crate::tasks::owner::{Life, Owner};

/// The part of a task that its first fact fixes for good.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) task_id: TaskId,
    pub(crate) parent_id: Option<TaskId>,
    pub(crate) root_id: TaskId,
    pub(crate) depth: u32,
    pub(crate) agent: String,
    pub(crate) title: String,
    pub(crate) workspace: String,
    pub(crate) started: Timestamp,
}

/// The part of a task that changes with every event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// The highest attempt that has written; lower ones are shut out.
    pub(crate) attempt: u32,
    pub(crate) owner: Owner,
    pub(crate) leg: u32,
    pub(crate) last_seq: u64,
    pub(crate) updated: Timestamp,
    /// Status of the leg's ending; `None` while it is open.
    pub(crate) status: Option<Status>,
    /// Number of the newest ending, of whichever leg.
    pub(crate) ended_seq: Option<u64>,
    /// Number of tasks that name it as their parent.
    pub(crate) children: u32,
    pub(crate) worked: Worked,
}

impl Origin {
    pub(crate) fn new(entry: &Entry, job: &Job) -> Self {
        Self {
            task_id: entry.task_id,
            parent_id: job.parent,
            root_id: job.root,
            depth: job.config.depth,
            agent: job.config.agent.clone(),
            title: job.title.clone(),
            workspace: job.workspace.clone(),
            started: entry.time,
        }
    }

    /// The task's header for lists. `is_alive` is called only for a task that has not ended.
    pub(crate) fn header(self, progress: &Progress, is_alive: impl FnOnce(Owner) -> bool) -> TaskHeader {
        let state = match progress.status {
            Some(status) => TaskState::Ended(status),
            None if is_alive(progress.owner) => TaskState::Running,
            None => TaskState::Interrupted,
        };
        TaskHeader {
            task_id: self.task_id,
            parent_id: self.parent_id,
            root_id: self.root_id,
            depth: self.depth,
            leg: progress.leg,
            agent: self.agent,
            title: self.title,
            workspace: self.workspace,
            state,
            started: self.started,
            updated: progress.updated,
            worked: progress.worked,
        }
    }
}

impl Progress {
    /// State of a task before its first event.
    pub(crate) fn before(entry: &Entry, owner: Owner) -> Self {
        Self {
            attempt: entry.attempt,
            owner,
            leg: entry.leg,
            last_seq: 0,
            updated: entry.time,
            status: None,
            ended_seq: None,
            children: 0,
            worked: Worked::begin(entry.time),
        }
    }

    /// The standing of this task, as seen from this process.
    pub(crate) fn standing(&self, task_id: TaskId) -> Standing {
        let owner = self.owner;
        let holder = match self.status {
            Some(_) => Holder::Nobody,
            None if owner == Owner::current() => Holder::ThisProcess,
            None => match owner.life() {
                Life::Running => Holder::Other { pid: owner.pid },
                Life::OutOfSight => Holder::OutOfSight { pid: owner.pid },
                Life::Gone => Holder::Nobody,
            },
        };
        let state = match (self.status, holder) {
            (Some(status), _) => TaskState::Ended(status),
            (None, Holder::Nobody) => TaskState::Interrupted,
            (None, Holder::ThisProcess | Holder::Other { .. } | Holder::OutOfSight { .. }) => TaskState::Running,
        };
        Standing { task_id, leg: self.leg, attempt: self.attempt, state, last_seq: self.last_seq, holder }
    }

    /// Takes the next event and returns its number, or refuses a writer that was shut out.
    pub(crate) fn advance(&mut self, entry: &Entry, owner: Owner) -> Result<u64, JournalError> {
        // Two processes may take over at once with the same attempt: the first to write is the owner.
        let is_word = self.takes_word_of_a_child(entry, owner);
        let is_others = entry.attempt == self.attempt && owner != self.owner && !is_word;
        let shut_out = entry.attempt < self.attempt || is_others;
        // Two callers in one process may do so too: an open leg is resumed only under a higher number.
        let is_open = entry.leg == self.leg && self.status.is_none();
        let resumed_twice = is_open && entry.attempt == self.attempt && matches!(entry.fact, Fact::TaskResumed { .. });
        if shut_out || resumed_twice {
            return Err(JournalError::Fenced { task: entry.task_id, ours: entry.attempt, current: self.attempt });
        }
        if let Some(read) = entry.after.filter(|read| *read != self.last_seq) {
            return Err(JournalError::Stale { task: entry.task_id, read, last: self.last_seq });
        }
        // A leg ends once. Only the end of a child may still follow it.
        let over = entry.leg < self.leg || (entry.leg == self.leg && self.status.is_some());
        if over && !matches!(entry.fact, Fact::ChildEnded { .. }) {
            return Err(JournalError::LegOver { task: entry.task_id, leg: entry.leg });
        }
        if entry.leg > self.leg {
            self.open(entry)?;
        }
        if !is_word {
            (self.attempt, self.owner) = (entry.attempt, owner);
        }
        self.worked.hear(&entry.fact, entry.time);
        self.updated = entry.time;
        self.last_seq += 1;
        if let Fact::TaskEnded { outcome } = &entry.fact {
            self.status = Some(outcome.status);
            self.ended_seq = Some(self.last_seq);
        }
        Ok(self.last_seq)
    }

    /// The end of a child stopped while no process runs its parent is still recorded in the parent's log. The parent
    /// gets no new owner from it.
    fn takes_word_of_a_child(&self, entry: &Entry, owner: Owner) -> bool {
        let is_word = matches!(entry.fact, Fact::ChildEnded { .. }) && entry.attempt == self.attempt;
        is_word && owner != self.owner && self.owner.life() == Life::Gone
    }

    /// Opens the next leg: every earlier leg must have ended, and the entry must be a resume.
    fn open(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let in_turn = self.status.is_some() && entry.leg == self.leg.saturating_add(1);
        if !in_turn || !matches!(entry.fact, Fact::TaskResumed { .. }) {
            return Err(JournalError::LegNotBegun { task: entry.task_id, leg: entry.leg });
        }
        self.leg = entry.leg;
        self.status = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{CallId, Timestamp};

    use super::*;

    #[test]
    fn the_end_of_a_child_reaches_a_task_without_an_owner_and_gives_it_none() {
        let task_id = TaskId::from_random([1; 12]);
        let fact =
            Fact::ChildEnded { call: CallId("call".to_owned()), child: TaskId::from_random([2; 12]), child_leg: 1 };
        let word = Entry { task_id, leg: 1, attempt: 3, time: Timestamp(0), after: None, fact };
        // No process with this pid can have that start time.
        let gone = Owner { pid: 1, started: Owner::current().started + 1, ..Owner::current() };
        let mut progress = Progress::before(&word, gone);
        assert_eq!(progress.advance(&word, Owner::current()).unwrap(), 1);
        assert_eq!(progress.standing(task_id).state, TaskState::Interrupted);
        let other_fact = Entry { fact: Fact::TaskAdmitted, ..word.clone() };
        assert!(matches!(progress.advance(&other_fact, Owner::current()), Err(JournalError::Fenced { .. })));
        let earlier = Entry { attempt: 2, ..word.clone() };
        assert!(matches!(progress.advance(&earlier, Owner::current()), Err(JournalError::Fenced { .. })));
        // Nobody else may write for a process that may be running.
        progress.owner = Owner { space: Owner::current().space + 1, ..gone };
        assert!(matches!(progress.advance(&word, Owner::current()), Err(JournalError::Fenced { .. })));
    }
}
