//! The index of the result cache: which task answered which request, newest last, in one small file.
//!
//! Several processes may write it. An entry that is overwritten is a lost chance to save work, nothing else.

use std::sync::{Mutex, PoisonError};

use sortie_protocol::TaskId;
use sortie_sandbox::{SpillDir, SpillError};

use super::key::Key;

const NAME: &str = "results";
/// Older ones go.
const MAX_ENTRIES: usize = 500;
/// More than so many entries ever take.
const MAX_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Index {
    /// Held while the file is read and written anew.
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

    /// Puts the task in the place of whichever answered before.
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

/// All that can be read of it. What is damaged is nobody's loss, and goes with the next entry.
fn entries(directory: &SpillDir) -> Vec<(Key, TaskId)> {
    let bytes = directory.recall(NAME, MAX_BYTES).ok().flatten().unwrap_or_default();
    let entry = |line: &str| line.split_once(' ').and_then(|(key, task)| Some((Key::parse(key)?, task.parse().ok()?)));
    String::from_utf8_lossy(&bytes).lines().filter_map(entry).collect()
}
