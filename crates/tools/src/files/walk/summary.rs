//! `WalkSummary`: counts of a walk, and its notes about everything left out.

use super::directory::MAX_DIRECTORY_ENTRIES;
use crate::answer::Answer;
use crate::answer::halt::Halt;
use crate::answer::phrases::counted;

/// Phrase for entries that the task's grant does not let it see.
pub(crate) const HIDDEN: &str = "hidden from this task by its grant";

/// Phrase for new versions of files that never took their place.
pub(crate) fn unfinished(count: usize) -> String {
    format!("{} (.sortie-write-*.tmp) left out", counted(count, "unfinished write", "unfinished writes"))
}

/// Counts of everything a walk has passed.
#[derive(Debug, Default)]
pub(crate) struct WalkSummary {
    /// All regular files that were not ignored.
    pub(crate) n_files: usize,
    /// The wanted files among them.
    pub(crate) n_wanted: usize,
    /// The reason why the walk stopped before its end, if the call had to.
    pub(crate) halt: Option<Halt>,
    pub(super) n_ignored: usize,
    pub(super) n_hidden: usize,
    pub(super) n_unfinished: usize,
    pub(super) n_entries: usize,
    pub(super) n_links: usize,
    pub(super) n_special: usize,
    pub(super) n_unlisted: usize,
    pub(super) n_unusable_rules: usize,
    pub(super) n_cut_directories: usize,
    pub(super) is_full: bool,
    pub(super) is_git_skipped: bool,
}

impl WalkSummary {
    /// The summary of a walk that found just one file.
    pub(crate) fn file() -> Self {
        Self { n_files: 1, n_wanted: 1, ..Self::default() }
    }

    /// Adds the counts of one more directory.
    pub(super) fn add(&mut self, more: &Self) {
        self.n_files += more.n_files;
        self.n_wanted += more.n_wanted;
        self.halt = self.halt.or(more.halt);
        self.n_ignored += more.n_ignored;
        self.n_hidden += more.n_hidden;
        self.n_unfinished += more.n_unfinished;
        self.n_entries += more.n_entries;
        self.n_links += more.n_links;
        self.n_special += more.n_special;
        self.n_unlisted += more.n_unlisted;
        self.n_unusable_rules += more.n_unusable_rules;
        self.n_cut_directories += more.n_cut_directories;
        self.is_full |= more.is_full;
        self.is_git_skipped |= more.is_git_skipped;
    }

    /// Notes in the answer's last line that `.git` was not entered, if `pattern` asks for it.
    pub(crate) fn note_git(&self, pattern: &str, answer: &mut Answer) {
        let is_wanted = pattern.split(['/', ',', ' ', '{', '}']).any(|name| name == ".git");
        if is_wanted && self.is_git_skipped {
            answer.note("`.git` is searched only if path names it");
        }
    }

    /// Notes in the answer's last line what a walk that was not halted left out.
    pub(crate) fn note_omissions(&self, answer: &mut Answer) {
        if self.is_full {
            answer.note_lack(format!("stopped after {} entries, more were left; narrow the path", self.n_entries));
        }
        if self.n_cut_directories > 0 {
            let directories = counted(self.n_cut_directories, "directory", "directories");
            answer.note_lack(format!("only {MAX_DIRECTORY_ENTRIES} entries looked at in {directories}"));
        }
        if self.n_ignored > 0 {
            answer.note(format!("{} hidden by ignore files", counted(self.n_ignored, "entry", "entries")));
        }
        if self.n_hidden > 0 {
            answer.note(format!("{} {HIDDEN}", counted(self.n_hidden, "entry", "entries")));
        }
        if self.n_unfinished > 0 {
            answer.note(unfinished(self.n_unfinished));
        }
        if self.n_unlisted > 0 {
            let directories = counted(self.n_unlisted, "directory", "directories");
            answer.note_lack(format!("{directories} could not be listed"));
        }
        let counts = [
            (self.n_unusable_rules, "ignore file", "ignore files", "not used (unreadable or too large)"),
            (self.n_links, "symbolic link", "symbolic links", "not followed"),
            (self.n_special, "special file", "special files", "skipped"),
        ];
        for (count, one, many, what) in counts {
            if count > 0 {
                answer.note(format!("{} {what}", counted(count, one, many)));
            }
        }
    }
}
