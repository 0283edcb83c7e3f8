//! The files of a tree, ignore files respected, symbolic links not followed, in the order of their paths.
//!
//! The walk is breadth first: the directories of a level are listed by several threads, batch by batch. What a walk that
//! was cut short has found therefore does not depend on which thread was faster. It opens no file but ignore files.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_sandbox::{AccessError, Entry, FileKind, Workspace};

use crate::answer::{Answer, counted};
use crate::blocking::{Halt, Stop};
use crate::parallel;
use crate::rules::{IGNORE_FILES, Rules};

/// After these many entries a walk ends.
const MAX_ENTRIES: usize = 500_000;
/// Of a larger directory only these many entries are looked at, in the order in which the file system gives them.
pub(crate) const MAX_DIRECTORY_ENTRIES: usize = 200_000;
/// Directories listed between two looks at the total.
const BATCH: usize = 256;
/// Entries read between two looks at the clock.
const ENTRIES_PER_LOOK: usize = 1024;

/// A directory that is still to be listed.
pub(crate) struct Directory {
    path: PathBuf,
    rules: Arc<Rules>,
}

/// What was found in one directory, sorted by name.
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// The rules that hold in it, for the directories below.
    rules: Arc<Rules>,
    pub(crate) n_ignored: usize,
    pub(crate) n_unusable_rules: usize,
    /// Set if the directory had more than [`MAX_DIRECTORY_ENTRIES`] or the call had to stop.
    pub(crate) is_cut: bool,
}

/// What a walk found.
#[derive(Default)]
pub(crate) struct Found {
    /// The files that were to be kept, relative to the root, in the order of their paths.
    pub(crate) files: Vec<PathBuf>,
    /// All regular files that were not ignored.
    pub(crate) n_files: usize,
    pub(crate) n_ignored: usize,
    n_entries: usize,
    n_links: usize,
    n_special: usize,
    n_unlisted: usize,
    n_unusable_rules: usize,
    n_cut_directories: usize,
    halt: Option<Halt>,
    is_full: bool,
}

/// Walks the tree below the directory `base`, relative to the root, and keeps the files for which `keep` says so.
pub(crate) fn walk(
    workspace: &Workspace,
    base: &Path,
    stop: &Stop,
    keep: &(dyn Fn(&Path) -> bool + Sync),
) -> Result<Found, AccessError> {
    let mut found = Found::default();
    let start = Directory::new(workspace, base);
    let mut level = found.take(Visit::of(&start, workspace, stop, keep)?);
    while !level.is_empty() {
        let mut below = Vec::new();
        for batch in level.chunks(BATCH) {
            let halted = || stop.halt().is_some();
            let visits =
                parallel::in_order(batch, halted, || (), |(), directory| Visit::of(directory, workspace, stop, keep));
            for visit in visits {
                match visit {
                    Ok(visit) => below.extend(found.take(visit)),
                    Err(AccessError::Vanished { .. }) => {}
                    Err(_) => found.n_unlisted += 1,
                }
            }
            found.halt = stop.halt();
            found.is_full = found.n_entries >= MAX_ENTRIES;
            if found.halt.is_some() || found.is_full {
                below.clear();
                break;
            }
        }
        level = below;
    }
    found.files.sort_unstable_by(|left, right| path_order(left.as_os_str(), right.as_os_str()));
    Ok(found)
}

impl Directory {
    pub(crate) fn new(workspace: &Workspace, path: &Path) -> Self {
        Self { path: path.to_owned(), rules: Rules::above(workspace, path) }
    }

    pub(crate) fn list(&self, workspace: &Workspace, stop: &Stop) -> Result<Listing, AccessError> {
        let mut entries = Vec::new();
        let mut is_cut = false;
        for entry in workspace.read_dir(&self.path)? {
            let is_due = entries.len() % ENTRIES_PER_LOOK == 0;
            if entries.len() == MAX_DIRECTORY_ENTRIES || (is_due && stop.halt().is_some()) {
                is_cut = true;
                break;
            }
            entries.push(entry?);
        }
        let is_present = |file: &&str| entries.iter().any(|entry| entry.name == **file && entry.kind == FileKind::File);
        let ignore_files: Vec<&str> = IGNORE_FILES.into_iter().filter(|file| is_present(file)).collect();
        let (rules, n_unusable_rules) = self.rules.enter(workspace, &self.path, &ignore_files);
        let n_all = entries.len();
        entries.retain(|entry| !rules.ignores(&self.path.join(&entry.name), entry.kind == FileKind::Directory));
        let n_ignored = n_all - entries.len();
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        Ok(Listing { entries, rules, n_ignored, n_unusable_rules, is_cut })
    }
}

/// One directory's share of a walk.
#[derive(Default)]
struct Visit {
    found: Found,
    directories: Vec<Directory>,
}

impl Visit {
    fn of(
        directory: &Directory,
        workspace: &Workspace,
        stop: &Stop,
        keep: &(dyn Fn(&Path) -> bool + Sync),
    ) -> Result<Self, AccessError> {
        let listing = directory.list(workspace, stop)?;
        let mut visit = Self::default();
        let found = &mut visit.found;
        found.n_entries = listing.entries.len() + listing.n_ignored;
        found.n_ignored = listing.n_ignored;
        found.n_unusable_rules = listing.n_unusable_rules;
        found.n_cut_directories = usize::from(listing.is_cut);
        for entry in listing.entries {
            if entry.name == ".git" {
                continue;
            }
            let path = directory.path.join(&entry.name);
            match entry.kind {
                FileKind::File => {
                    found.n_files += 1;
                    if keep(&path) {
                        found.files.push(path);
                    }
                }
                FileKind::Directory => {
                    visit.directories.push(Directory { path, rules: Arc::clone(&listing.rules) });
                }
                FileKind::Symlink => found.n_links += 1,
                _ => found.n_special += 1,
            }
        }
        Ok(visit)
    }
}

impl Found {
    /// As if a walk had found just this file.
    pub(crate) fn file(path: PathBuf) -> Self {
        Self { files: vec![path], n_files: 1, ..Self::default() }
    }

    /// Adds what one directory had; returns the directories below it.
    fn take(&mut self, visit: Visit) -> Vec<Directory> {
        let Visit { found, directories } = visit;
        self.files.extend(found.files);
        self.n_files += found.n_files;
        self.n_ignored += found.n_ignored;
        self.n_entries += found.n_entries;
        self.n_links += found.n_links;
        self.n_special += found.n_special;
        self.n_unusable_rules += found.n_unusable_rules;
        self.n_cut_directories += found.n_cut_directories;
        directories
    }

    /// Whether the call had to stop before the walk was over.
    pub(crate) fn is_halted(&self) -> bool {
        self.halt.is_some()
    }

    /// Says in the answer's last line what the walk left out.
    pub(crate) fn note_omissions(&self, answer: &mut Answer) {
        if let Some(halt) = self.halt {
            answer.note(halt.note());
        }
        if self.is_full {
            answer.note(format!("stopped after {} entries; narrow the path", self.n_entries));
        }
        if self.n_cut_directories > 0 && self.halt.is_none() {
            let directories = counted(self.n_cut_directories, "directory", "directories");
            answer.note(format!("only {MAX_DIRECTORY_ENTRIES} entries looked at in {directories}"));
        }
        let counts = [
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

/// Orders paths component by component: `a/b` before `a-b`, as their directories would be listed.
fn path_order(left: &OsStr, right: &OsStr) -> Ordering {
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    left.as_encoded_bytes().iter().map(rank).cmp(right.as_encoded_bytes().iter().map(rank))
}
