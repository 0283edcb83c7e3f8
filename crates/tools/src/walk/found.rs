//! What a walk found, and what it says of the rest.

use std::path::{Path, PathBuf};

use super::{Directory, MAX_DIRECTORY_ENTRIES, Visit};
use crate::answer::{Answer, counted};
use crate::blocking::Halt;

/// What a walk found.
#[derive(Default)]
pub(crate) struct Found {
    /// The files that were to be kept, relative to the root, in the order of their paths.
    pub(crate) files: Vec<Box<Path>>,
    /// All regular files that were not ignored.
    pub(crate) n_files: usize,
    pub(super) n_ignored: usize,
    pub(super) n_entries: usize,
    pub(super) n_links: usize,
    pub(super) n_special: usize,
    pub(super) n_unlisted: usize,
    pub(super) n_unusable_rules: usize,
    pub(super) n_cut_directories: usize,
    pub(super) halt: Option<Halt>,
    pub(super) is_full: bool,
    pub(super) is_git_skipped: bool,
}

impl Found {
    /// As if a walk had found just this file.
    pub(crate) fn file(path: PathBuf) -> Self {
        Self { files: vec![path.into_boxed_path()], n_files: 1, ..Self::default() }
    }

    /// Adds what one directory had; returns the directories below it.
    pub(super) fn take(&mut self, visit: Visit) -> Vec<Directory> {
        let Visit { found, directories } = visit;
        self.files.extend(found.files);
        self.n_files += found.n_files;
        self.n_ignored += found.n_ignored;
        self.n_entries += found.n_entries;
        self.n_links += found.n_links;
        self.n_special += found.n_special;
        self.n_unusable_rules += found.n_unusable_rules;
        self.n_cut_directories += found.n_cut_directories;
        self.halt = self.halt.or(found.halt);
        self.is_git_skipped |= found.is_git_skipped;
        directories
    }

    /// Whether the call had to stop before the walk was over.
    pub(crate) fn is_halted(&self) -> bool {
        self.halt.is_some()
    }

    pub(super) fn is_cut_short(&self) -> bool {
        self.is_full || self.is_halted()
    }

    /// Says in the answer's last line that `.git` was not entered, if someone who wrote `pattern` wanted it.
    pub(crate) fn note_git(&self, pattern: &str, answer: &mut Answer) {
        let is_wanted = pattern.split(['/', ',', ' ', '{', '}']).any(|name| name == ".git");
        if is_wanted && self.is_git_skipped {
            answer.note("`.git` is searched only if path names it");
        }
    }

    /// Says in the answer's last line what the walk left out.
    pub(crate) fn note_omissions(&self, answer: &mut Answer) {
        if let Some(halt) = self.halt {
            answer.note(halt.note());
        }
        if self.is_full {
            answer.note(format!("stopped after {} entries, more were left; narrow the path", self.n_entries));
        }
        if self.n_cut_directories > 0 {
            let directories = counted(self.n_cut_directories, "directory", "directories");
            answer.note(format!("only {MAX_DIRECTORY_ENTRIES} entries looked at in {directories}"));
        }
        let counts = [
            (self.n_ignored, "entry", "entries", "hidden by ignore files"),
            (self.n_unlisted, "directory", "directories", "could not be listed"),
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
