//! The journal in memory: the same promises as the one on disk, for as long as the process lives.

mod state;
mod task;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sortie_protocol::{Command, Event, Fact, Job, TaskId, TaskOutcome, Timestamp};

use self::state::State;
use self::task::Task;
use crate::port::{
    CommandId, Durability, Entry, Journal, JournalError, Position, Pruned, Scope, Standing, TaskHeader, TaskQuery,
};
use crate::tasks::lost_attempts::LostAttempts;
use crate::tasks::owner::Owner;
use crate::tasks::written_end::WrittenEnd;

/// A journal without a disk. Nothing outlives it; both durabilities mean the same.
#[derive(Debug)]
pub struct MemoryJournal {
    owner: Owner,
    state: Mutex<State>,
    written: WrittenEnd,
    lost: LostAttempts,
}

impl MemoryJournal {
    pub fn new() -> Self {
        Self {
            owner: Owner::current(),
            state: Mutex::default(),
            written: WrittenEnd::default(),
            lost: LostAttempts::default(),
        }
    }

    fn header(&self, task: &Task) -> TaskHeader {
        let mut header = task.header();
        self.lost.correct_header(&mut header);
        header
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl Journal for MemoryJournal {
    fn append(
        &self,
        entries: Vec<Entry>,
        _durability: Durability,
    ) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + '_>> {
        Box::pin(async move {
            let mut state = self.lock();
            self.lost.admit(&entries)?;
            let end = state.append(&entries, self.owner)?;
            drop(state);
            self.lost.forget(&entries);
            self.written.reach(end);
            Ok(())
        })
    }

    fn read_each(&self, task: TaskId, from: u64, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        // Copied first: `each` may call the journal.
        let events: Vec<Event> = {
            let state = self.lock();
            state.known(task)?.events.iter().filter_map(|at| state.log.get(at)).cloned().collect()
        };
        events.into_iter().filter(|event| event.seq >= from).for_each(each);
        Ok(())
    }

    fn beginning(&self, task: TaskId) -> Result<Job, JournalError> {
        let state = self.lock();
        let first = state.known(task)?.events.first().and_then(|at| state.log.get(at));
        match first.map(|event| &event.fact) {
            Some(Fact::TaskStarted { job }) => Ok(Job::clone(job)),
            _ => Err(JournalError::not_the_start(task)),
        }
    }

    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        let state = self.lock();
        let events = state.task(task).map(|task| task.events.as_slice()).unwrap_or_default();
        Ok(events.iter().rev().find_map(|at| match &state.log.get(at)?.fact {
            Fact::TaskEnded { outcome } => Some(TaskOutcome::clone(outcome)),
            _ => None,
        }))
    }

    fn read_after(&self, scope: Scope, after: Position, limit: usize) -> Result<Vec<(Position, Event)>, JournalError> {
        let state = self.lock();
        let belongs = |event: &Event| match scope {
            Scope::All => true,
            Scope::Tree(root) => state.task(event.task_id).is_some_and(|task| task.origin.root_id == root),
        };
        let behind = state.log.range(Position(after.0.saturating_add(1))..);
        let found = behind.filter(|(_, event)| belongs(event)).take(limit);
        Ok(found.map(|(at, event)| (*at, event.clone())).collect())
    }

    fn end(&self) -> Result<Position, JournalError> {
        Ok(self.lock().end)
    }

    fn wait_beyond(&self, after: Position, at_most: Duration) {
        self.written.wait_beyond(after, at_most);
    }

    fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError> {
        let state = self.lock();
        let bound = match query.behind {
            Some(task) => state.number(task)?,
            None => u64::MAX,
        };
        let newest_first = state.tasks.range(..bound).rev().map(|(_, task)| self.header(task));
        Ok(newest_first.filter(|header| query.admits(header)).take(query.limit).collect())
    }

    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        let letters = prefix.strip_prefix("agent-").unwrap_or(prefix);
        let state = self.lock();
        let matching = state.tasks.values().filter(|task| task.origin.task_id.letters().starts_with(letters));
        Ok(matching.map(|task| self.header(task)).collect())
    }

    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        let mut headers = self.lock().tree(root);
        for header in &mut headers {
            self.lost.correct_header(header);
        }
        if headers.is_empty() {
            return Err(JournalError::NoSuchTask { asked: root.to_string() });
        }
        Ok(headers)
    }

    fn standing(&self, task: TaskId) -> Result<Standing, JournalError> {
        let state = self.lock();
        Ok(self.lost.correct_standing(state.known(task)?.progress.standing(task)))
    }

    fn shut_out(&self, task: TaskId, attempt: u32, why: &JournalError) {
        // Waits for an append under way, which may still write.
        let _state = self.lock();
        self.lost.shut_out(task, attempt, why);
    }

    fn forsake(&self, task: TaskId, attempt: u32, why: &JournalError) {
        self.lost.forsake(task, attempt, why);
    }

    fn send(&self, command: Command) -> Pin<Box<dyn Future<Output = Result<CommandId, JournalError>> + Send + '_>> {
        Box::pin(async move { self.lock().send(command) })
    }

    fn newest_command(&self) -> Result<CommandId, JournalError> {
        Ok(CommandId(self.lock().newest_command))
    }

    fn commands_after(&self, after: CommandId, limit: usize) -> Result<Vec<(CommandId, Command)>, JournalError> {
        let state = self.lock();
        let behind = state.commands.range(CommandId(after.0.saturating_add(1))..);
        Ok(behind.take(limit).map(|(id, command)| (*id, command.clone())).collect())
    }

    fn prunable(&self, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError> {
        let roots = self.list(&TaskQuery { roots_only: true, ..TaskQuery::default() })?;
        let state = self.lock();
        let trees = roots.iter().rev().filter_map(|root| state.old_tree(root.task_id, older_than).ok());
        Ok(trees.flatten().collect())
    }

    fn prune(&self, older_than: Timestamp, discard: &mut dyn FnMut(TaskId)) -> Result<Pruned, JournalError> {
        let mut pruned = Pruned::default();
        let roots = self.list(&TaskQuery { roots_only: true, ..TaskQuery::default() })?;
        for root in roots {
            let removed = self.lock().remove(root.task_id, older_than, &mut pruned);
            removed.into_iter().for_each(&mut *discard);
        }
        Ok(pruned)
    }
}
