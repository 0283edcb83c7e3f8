//! The index of the result cache: tasks by request, newest last, in one small file.
//!
//! Several processes may write it. An overwritten entry is a lost chance to save work, nothing else.

use std::sync::{Mutex, PoisonError};

use sortie_protocol::TaskId;
use sortie_sandbox::{SpillDir, SpillError};

use super::key::Key;

const NAME: &str = "results";
/// Most entries; older ones are dropped.
const MAX_ENTRIES: usize = 500;
/// More bytes than the entries can ever take.
const MAX_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Index {
    /// Held while the file is read and rewritten.
    directory: Mutex<SpillDir>,
}

impl Index {
    pub(super) fn new(directory: SpillDir) -> Self {
        Self { directory: Mutex::new(directory) }
    }

    pub(super) fn find(&self, key: &Key) -> Option<TaskId> {
        let directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        entries(&directory).into_iter().rev().find(|(known, _)| known == key).map(|(_, task)| task)
    }

    /// Sets the task for a key, in place of an earlier one.
    pub(super) fn put(&self, key: &Key, task: TaskId) -> Result<(), SpillError> {
        let directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = entries(&directory);
        entries.retain(|(known, _)| known != key);
        entries.push((*key, task));
        let newest = &entries[entries.len().saturating_sub(MAX_ENTRIES)..];
        let lines: Vec<String> = newest.iter().map(|(key, task)| format!("{key} {task}\n")).collect();
        directory.keep(NAME, &lines.concat())
    }
}

/// Reads all valid entries. Damaged ones do no harm, and vanish with the next write.
fn entries(directory: &SpillDir) -> Vec<(Key, TaskId)> {
    let bytes = directory.recall(NAME, MAX_BYTES).ok().flatten().unwrap_or_default();
    let entry = |line: &str| line.split_once(' ').and_then(|(key, task)| Some((Key::parse(key)?, task.parse().ok()?)));
    String::from_utf8_lossy(&bytes).lines().filter_map(entry).collect()
}
