//! The progress file of a background task: its activity as it happens, and its ending, for people to read.
//!
//! It only displays the facts: no program reads it back, and a task does not fail if it cannot be written. `Narrator`
//! words it, for the progress file and for followers of the journal alike.

mod narrator;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use sortie_protocol::{Fact, TaskId, Timestamp};
use sortie_sandbox::{GrowingFile, SpillDir, SpillError};

pub use narrator::Narrator;

fn name_of(task: TaskId) -> String {
    format!("{task}-output")
}

/// The growing progress file of one task.
#[derive(Debug)]
pub(crate) struct ProgressFile {
    file: GrowingFile,
    narrator: Mutex<Narrator>,
    /// The reason why nothing more is written.
    failure: OnceLock<String>,
}

impl ProgressFile {
    /// Opens the progress file of a task, and appends to an existing one. Its name begins with the task's id.
    pub(crate) fn open(directory: &SpillDir, task: TaskId) -> Result<Self, SpillError> {
        directory.growing(&name_of(task)).map(Self::of)
    }

    /// Opens the progress file if an earlier leg has one.
    pub(crate) fn reopen(directory: &SpillDir, task: TaskId) -> Result<Option<Self>, SpillError> {
        Ok(directory.grown(&name_of(task))?.map(Self::of))
    }

    fn of(file: GrowingFile) -> Self {
        Self { file, narrator: Mutex::default(), failure: OnceLock::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes a fact down. A short write, which does not wait for the disk.
    pub(crate) fn see(&self, fact: &Fact, time: Timestamp) {
        if self.failure.get().is_some() {
            return;
        }
        let mut narrator = self.narrator.lock().unwrap_or_else(PoisonError::into_inner);
        let text = narrator.tell(fact, time);
        let written = match fact {
            Fact::TaskEnded { .. } => self.file.append_last(&text),
            _ => self.file.append(&text),
        };
        if let Err(error) = written {
            self.failure.get_or_init(|| format!("the output file is incomplete: {error}"));
        }
    }

    /// Explains why the file is incomplete, if it is.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}
