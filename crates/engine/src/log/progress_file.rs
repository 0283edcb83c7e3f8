//! The file that tells a person what a task in the background does while it does it, and how it ended.
//!
//! It is a display of the facts and nothing more: nobody reads it back, and a task does not fail because it cannot be
//! written. `Narrator` finds the words, also for whoever follows a task in the journal.

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

/// The growing output of one task.
#[derive(Debug)]
pub(crate) struct ProgressFile {
    file: GrowingFile,
    narrator: Mutex<Narrator>,
    /// Why nothing more is written.
    failure: OnceLock<String>,
}

impl ProgressFile {
    /// Opens the output of a task, behind whatever it has already. Its name begins with the task's id.
    pub(crate) fn open(directory: &SpillDir, task: TaskId) -> Result<Self, SpillError> {
        directory.growing(&name_of(task)).map(Self::of)
    }

    /// The same, if the task was ever told of in one.
    pub(crate) fn reopen(directory: &SpillDir, task: TaskId) -> Result<Option<Self>, SpillError> {
        Ok(directory.grown(&name_of(task))?.map(Self::of))
    }

    fn of(file: GrowingFile) -> Self {
        Self { file, narrator: Mutex::default(), failure: OnceLock::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes down what happened, in the order in which it is seen. A short write that nobody waits for the disk with.
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
            self.failure.get_or_init(|| format!("the output file is not whole: {error}"));
        }
    }

    /// What a person should know who looks for the output, if it could not be written to the end.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}
