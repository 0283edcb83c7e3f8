//! The state of the journal in memory, and its changes.

use std::collections::{BTreeMap, HashMap, HashSet};

use sortie_protocol::{Command, Event, TaskId, Timestamp, VERSION};

use crate::memory::task::Task;
use crate::port::{CommandId, Entry, JournalError, Kept, Position, Pruned, TaskHeader};
use crate::tasks::append_plan::plan;
use crate::tasks::owner::Owner;
use crate::tasks::progress::Origin;
use crate::tasks::prune_evidence::{self, COMMANDS_KEPT, Evidence};

#[derive(Debug, Default)]
pub(super) struct State {
    /// All events in the order of writing.
    pub(super) log: BTreeMap<Position, Event>,
    pub(super) end: Position,
    /// All tasks in the order of starting.
    pub(super) tasks: BTreeMap<u64, Task>,
    by_id: HashMap<TaskId, u64>,
    started: u64,
    pub(super) commands: BTreeMap<CommandId, Command>,
    pub(super) newest_command: i64,
}

impl State {
    pub(super) fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(self.by_id.get(&id)?)
    }

    pub(super) fn known(&self, id: TaskId) -> Result<&Task, JournalError> {
        self.task(id).ok_or_else(|| JournalError::NoSuchTask { asked: id.to_string() })
    }

    /// Position in the order of starting.
    pub(super) fn number(&self, id: TaskId) -> Result<u64, JournalError> {
        self.by_id.get(&id).copied().ok_or_else(|| JournalError::NoSuchTask { asked: id.to_string() })
    }

    pub(super) fn append(&mut self, entries: &[Entry], owner: Owner) -> Result<Position, JournalError> {
        let plan = plan(entries, owner, |id| self.task(id).map(|task| task.progress))?;
        for origin in plan.started {
            let id = origin.task_id;
            if let Some(&progress) = plan.progress.get(&id) {
                self.started += 1;
                self.by_id.insert(id, self.started);
                self.tasks.insert(self.started, Task { origin, progress, events: Vec::new() });
            }
        }
        for (entry, seq) in entries.iter().zip(plan.seqs) {
            if let Some(task) = self.by_id.get(&entry.task_id).and_then(|number| self.tasks.get_mut(number)) {
                self.end.0 += 1;
                task.events.push(self.end);
                self.log.insert(self.end, event(entry, seq, &task.origin));
            }
        }
        for (id, progress) in plan.progress {
            if let Some(task) = self.by_id.get(&id).and_then(|number| self.tasks.get_mut(number)) {
                task.progress = progress;
            }
        }
        Ok(self.end)
    }

    pub(super) fn send(&mut self, command: Command) -> Result<CommandId, JournalError> {
        let task = command.task().ok_or_else(JournalError::unknown_command)?;
        self.known(task)?;
        self.newest_command += 1;
        let id = CommandId(self.newest_command);
        self.commands.insert(id, command);
        let state = &*self;
        let old: Vec<CommandId> = state
            .commands
            .range(..=CommandId(id.0 - COMMANDS_KEPT))
            .filter(|(_, command)| command.task().and_then(|task| state.task(task)).is_none_or(Task::has_ended))
            .map(|(id, _)| *id)
            .collect();
        for id in old {
            self.commands.remove(&id);
        }
        Ok(id)
    }

    /// The task and all its descendants, in the order of starting; empty if there is no such task.
    pub(super) fn tree(&self, root: TaskId) -> Vec<TaskHeader> {
        // Parents start before their children, so one pass in the order of starting is enough.
        let mut members = HashSet::new();
        let mut headers = Vec::new();
        for task in self.tasks.values() {
            let Origin { task_id, parent_id, .. } = task.origin;
            if task_id == root || parent_id.is_some_and(|parent| members.contains(&parent)) {
                members.insert(task_id);
                headers.push(task.header());
            }
        }
        headers
    }

    /// The tree below the root, if it may be pruned; otherwise the reason, if one should be reported.
    pub(super) fn old_tree(&self, root: TaskId, older_than: Timestamp) -> Result<Vec<TaskHeader>, Option<Kept>> {
        let tree = self.tree(root);
        if !prune_evidence::is_old(&tree, older_than) {
            return Err(None);
        }
        let mut evidence = Evidence::default();
        let tasks = tree.iter().filter_map(|header| self.task(header.task_id));
        tasks.flat_map(|task| &task.events).filter_map(|at| self.log.get(at)).for_each(|event| evidence.see(event));
        let uncollected = evidence.uncollected(&tree);
        if uncollected.is_some() { Err(uncollected) } else { Ok(tree) }
    }

    /// Removes the tree if it may be pruned, and returns its tasks.
    pub(super) fn remove(&mut self, root: TaskId, older_than: Timestamp, pruned: &mut Pruned) -> Vec<TaskId> {
        let tree = match self.old_tree(root, older_than) {
            Ok(tree) => tree,
            Err(kept) => {
                pruned.kept.extend(kept);
                return Vec::new();
            }
        };
        let numbers: Vec<u64> = tree.iter().filter_map(|header| self.by_id.get(&header.task_id).copied()).collect();
        let positions: Vec<Position> =
            numbers.iter().filter_map(|number| self.tasks.get(number)).flat_map(|task| task.events.clone()).collect();
        for event in positions.iter().filter_map(|at| self.log.remove(at)) {
            pruned.events += 1;
            pruned.bytes += serde_json::to_string(&event.fact).map_or(0, |body| body.len() as u64);
        }
        for number in numbers {
            self.tasks.remove(&number);
        }
        for header in &tree {
            self.by_id.remove(&header.task_id);
            self.commands.retain(|_, command| command.task() != Some(header.task_id));
        }
        let removed: Vec<TaskId> = tree.iter().map(|header| header.task_id).collect();
        pruned.tasks.extend(&removed);
        removed
    }
}

fn event(entry: &Entry, seq: u64, origin: &Origin) -> Event {
    Event {
        v: VERSION,
        seq,
        task_id: entry.task_id,
        parent_id: origin.parent_id,
        depth: origin.depth,
        leg: entry.leg,
        time: entry.time,
        fact: entry.fact.clone(),
    }
}
