//! The journal in memory: the same promises as the one on disk, for as long as the process lives.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sortie_protocol::{Event, Fact, TaskId, TaskOutcome, VERSION};

use crate::horizon::Horizon;
use crate::owner::Owner;
use crate::plan::plan;
use crate::task::{Origin, Progress};
use crate::{Durability, Entry, Journal, JournalError, Position, Scope, TaskHeader};

/// A journal without a disk. Nothing outlives it; both durabilities mean the same.
#[derive(Debug)]
pub struct MemoryJournal {
    owner: Owner,
    state: Mutex<State>,
    horizon: Horizon,
}

#[derive(Debug, Default)]
struct State {
    /// All events in the order of writing; the one at index `i` has position `i + 1`.
    log: Vec<Event>,
    /// All tasks in the order of starting.
    tasks: Vec<Task>,
    by_id: HashMap<TaskId, usize>,
}

#[derive(Debug)]
struct Task {
    origin: Origin,
    progress: Progress,
    /// Where its events are in the log.
    events: Vec<usize>,
}

impl MemoryJournal {
    pub fn new() -> Self {
        Self { owner: Owner::current(), state: Mutex::default(), horizon: Horizon::default() }
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

impl State {
    fn task(&self, id: TaskId) -> Option<&Task> {
        self.by_id.get(&id).map(|&at| &self.tasks[at])
    }

    fn append(&mut self, entries: Vec<Entry>, owner: Owner) -> Result<Position, JournalError> {
        let plan = plan(&entries, owner, |id| self.task(id).map(|task| task.progress))?;
        for origin in plan.started {
            let id = origin.task_id;
            if let Some(&progress) = plan.progress.get(&id) {
                self.by_id.insert(id, self.tasks.len());
                self.tasks.push(Task { origin, progress, events: Vec::new() });
            }
        }
        for (entry, seq) in entries.into_iter().zip(plan.seqs) {
            if let Some(&at) = self.by_id.get(&entry.task_id) {
                let task = &mut self.tasks[at];
                task.events.push(self.log.len());
                self.log.push(event(entry, seq, &task.origin));
            }
        }
        for (id, progress) in plan.progress {
            if let Some(&at) = self.by_id.get(&id) {
                self.tasks[at].progress = progress;
            }
        }
        Ok(self.end())
    }

    fn end(&self) -> Position {
        Position(i64::try_from(self.log.len()).unwrap_or(i64::MAX))
    }
}

fn event(entry: Entry, seq: u64, origin: &Origin) -> Event {
    Event {
        v: VERSION,
        seq,
        task_id: entry.task_id,
        parent_id: origin.parent_id,
        depth: origin.depth,
        leg: entry.leg,
        time: entry.time,
        fact: entry.fact,
    }
}

impl Task {
    fn header(&self) -> TaskHeader {
        self.origin.clone().header(&self.progress, Owner::is_alive)
    }
}

impl Journal for MemoryJournal {
    fn append(
        &self,
        entries: Vec<Entry>,
        _durability: Durability,
    ) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + '_>> {
        Box::pin(async move {
            let end = self.lock().append(entries, self.owner)?;
            self.horizon.reach(end);
            Ok(())
        })
    }

    fn read(&self, task: TaskId) -> Result<Vec<Event>, JournalError> {
        let state = self.lock();
        let found = state.task(task).ok_or_else(|| JournalError::NoSuchTask { asked: task.to_string() })?;
        Ok(found.events.iter().map(|&at| state.log[at].clone()).collect())
    }

    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        let state = self.lock();
        let events = state.task(task).map(|task| task.events.as_slice()).unwrap_or_default();
        Ok(events.iter().rev().find_map(|&at| match &state.log[at].fact {
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
        let skipped = usize::try_from(after.0).unwrap_or_default();
        let behind = state.log.get(skipped..).unwrap_or_default();
        let positions = (after.0.max(0) + 1..).map(Position);
        let found = positions.zip(behind).filter(|(_, event)| belongs(event)).take(limit);
        Ok(found.map(|(at, event)| (at, event.clone())).collect())
    }

    fn end(&self) -> Result<Position, JournalError> {
        Ok(self.lock().end())
    }

    fn wait_beyond(&self, after: Position, at_most: Duration) {
        self.horizon.wait_beyond(after, at_most);
    }

    fn tasks(&self, limit: usize) -> Result<Vec<TaskHeader>, JournalError> {
        Ok(self.lock().tasks.iter().rev().take(limit).map(Task::header).collect())
    }

    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        let letters = prefix.strip_prefix("agent-").unwrap_or(prefix);
        let state = self.lock();
        let matching = state.tasks.iter().filter(|task| task.origin.task_id.letters().starts_with(letters));
        Ok(matching.map(Task::header).collect())
    }

    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        let state = self.lock();
        // Parents start before their children, so one pass in the order of starting meets them first.
        let mut members = HashSet::new();
        let mut headers = Vec::new();
        for task in &state.tasks {
            let Origin { task_id, parent_id, .. } = task.origin;
            if task_id == root || parent_id.is_some_and(|parent| members.contains(&parent)) {
                members.insert(task_id);
                headers.push(task.header());
            }
        }
        if headers.is_empty() {
            return Err(JournalError::NoSuchTask { asked: root.to_string() });
        }
        Ok(headers)
    }
}
