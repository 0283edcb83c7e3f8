//! `Directory`: one directory and its entries, sorted by name, without those that ignore files hide.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_sandbox::{AccessError, Entries, Entry, FileKind, Stamp, Workspace};

use crate::answer::Answer;
use crate::answer::halt::{Halt, Stop};
use crate::files::ignore_rules::{IGNORE_FILES, IgnoreRules};

/// Maximum number of entries examined in one directory, in file system order.
pub(super) const MAX_DIRECTORY_ENTRIES: usize = 50_000;
/// Entries read between two checks of the clock.
const ENTRIES_PER_LOOK: usize = 1024;

/// A directory yet to be listed.
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    rules: Arc<IgnoreRules>,
    /// Unusable ignore files above it, if no listing has counted them yet.
    n_unusable_rules: usize,
}

/// The entries of one directory, sorted by name.
pub(crate) struct DirectoryListing {
    pub(crate) entries: Vec<Entry>,
    /// The opened directory, for a closer look at its entries.
    opened: Entries,
    /// The rules of the directory, passed on to its subdirectories.
    rules: Arc<IgnoreRules>,
    /// Entries that ignore files hide.
    pub(crate) ignored: Vec<Entry>,
    /// Entries that this task may not see.
    pub(crate) n_hidden: usize,
    /// New versions of files that never took their place.
    pub(crate) n_unfinished: usize,
    pub(crate) n_unusable_rules: usize,
    pub(crate) cut: Option<Cut>,
}

/// The reason why a listing is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The directory has more than [`MAX_DIRECTORY_ENTRIES`].
    Full,
    Halted(Halt),
}

impl Cut {
    /// Notes this in the answer's last line.
    pub(crate) fn note(self, answer: &mut Answer) {
        match self {
            Self::Full => {
                answer.note_lack(format!("more than {MAX_DIRECTORY_ENTRIES} entries: the rest was not looked at"));
            }
            Self::Halted(halt) => answer.note_halt(Some(halt)),
        }
    }
}

impl Directory {
    /// The start of a walk, with the rules of the directories above it.
    pub(crate) fn new(workspace: &Workspace, path: &Path) -> Self {
        let (rules, n_unusable_rules) = IgnoreRules::above(workspace, path);
        Self { path: path.to_owned(), rules, n_unusable_rules }
    }

    #[cfg(test)]
    pub(super) fn without_rules(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), rules: Arc::default(), n_unusable_rules: 0 }
    }

    pub(crate) fn list(&self, workspace: &Workspace, stop: &Stop) -> Result<DirectoryListing, AccessError> {
        let (mut entries, mut n_hidden, mut n_unfinished) = (Vec::new(), 0, 0);
        let mut cut = None;
        let mut opened = workspace.read_dir(&self.path)?;
        for (n_seen, entry) in opened.by_ref().enumerate() {
            if n_seen % ENTRIES_PER_LOOK == 0 {
                cut = stop.halt().map(Cut::Halted);
            }
            if n_seen == MAX_DIRECTORY_ENTRIES {
                cut = Some(Cut::Full);
            }
            if cut.is_some() {
                break;
            }
            match entry {
                Err(AccessError::Refused { .. }) => n_hidden += 1,
                Ok(entry) if entry.is_unfinished() => n_unfinished += 1,
                entry => entries.push(entry?),
            }
        }
        let is_present = |file: &&str| entries.iter().any(|entry| entry.name == **file && entry.kind == FileKind::File);
        let ignore_files: Vec<&str> = IGNORE_FILES.into_iter().filter(|file| is_present(file)).collect();
        let (rules, n_unusable) = self.rules.enter(workspace, &self.path, &ignore_files);
        let mut path = self.path.clone();
        let (ignored, mut entries): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| {
            path.push(&entry.name);
            let is_ignored = rules.ignores(&path, entry.kind);
            path.pop();
            is_ignored
        });
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        let n_unusable_rules = self.n_unusable_rules + n_unusable;
        Ok(DirectoryListing { entries, opened, rules, ignored, n_hidden, n_unfinished, n_unusable_rules, cut })
    }
}

impl DirectoryListing {
    /// The current state of an entry; `None` if it is gone.
    pub(crate) fn stamp(&self, entry: &Entry) -> Option<Stamp> {
        self.opened.stamp(&entry.name)
    }

    /// The directory at `path`, which is one of the entries.
    pub(crate) fn below(&self, path: PathBuf) -> Directory {
        Directory { path, rules: Arc::clone(&self.rules), n_unusable_rules: 0 }
    }
}
