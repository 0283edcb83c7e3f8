//! The files of a tree, ignore files respected, symbolic links not followed, in the order of their paths.
//!
//! The walk is breadth first: the directories of a level are listed by several threads, batch by batch. What a walk that
//! was cut short has found therefore does not depend on which thread was faster. It opens no file but ignore files.

mod found;

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sortie_sandbox::{AccessError, Entry, FileKind, Workspace};

pub(crate) use self::found::Found;
use crate::blocking::{Halt, Stop};
use crate::parallel;
use crate::rules::{IGNORE_FILES, Rules};

/// A walk never takes more entries than these. With paths of 60 bytes they and the search cost less than 64 MiB.
const MAX_ENTRIES: usize = 300_000;
/// Of a larger directory only these many entries are looked at, in the order in which the file system gives them.
const MAX_DIRECTORY_ENTRIES: usize = 50_000;
/// Directories listed before what they had is put together.
const BATCH: usize = 256;
/// Entries read between two looks at the clock.
const ENTRIES_PER_LOOK: usize = 1024;

/// A directory that is still to be listed.
pub(crate) struct Directory {
    path: PathBuf,
    rules: Arc<Rules>,
    /// Ignore files above it that could not be used, if no listing has counted them yet.
    n_unusable_rules: usize,
}

/// What was found in one directory, sorted by name.
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// The rules that hold in it, for the directories below.
    rules: Arc<Rules>,
    pub(crate) n_ignored: usize,
    pub(crate) n_unusable_rules: usize,
    pub(crate) cut: Option<Cut>,
}

/// Why a listing is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The directory has more than [`MAX_DIRECTORY_ENTRIES`].
    Full,
    Halted(Halt),
}

impl Cut {
    pub(crate) fn note(self) -> String {
        match self {
            Self::Full => format!("more than {MAX_DIRECTORY_ENTRIES} entries: the rest was not looked at"),
            Self::Halted(halt) => halt.note(),
        }
    }
}

/// Walks the tree below the directory `base`, relative to the root, and keeps the files for which `keep` says so.
pub(crate) fn walk(
    workspace: &Workspace,
    base: &Path,
    stop: &Stop,
    keep: &(dyn Fn(&Path) -> bool + Sync),
) -> Result<Found, AccessError> {
    Walk { workspace, stop, keep, max_entries: MAX_ENTRIES }.run(base)
}

struct Walk<'a> {
    workspace: &'a Workspace,
    stop: &'a Stop,
    keep: &'a (dyn Fn(&Path) -> bool + Sync),
    max_entries: usize,
}

/// One directory's share of a walk.
#[derive(Default)]
struct Visit {
    found: Found,
    directories: Vec<Directory>,
}

impl Walk<'_> {
    fn run(&self, base: &Path) -> Result<Found, AccessError> {
        let mut found = Found::default();
        let mut level = found.take(self.visit(&Directory::new(self.workspace, base))?);
        while !level.is_empty() && !found.is_cut_short() {
            let mut below = Vec::new();
            for batch in level.chunks(BATCH) {
                self.visit_all(batch, &mut found, &mut below);
                if found.is_cut_short() {
                    break;
                }
            }
            level = below;
        }
        found.files.sort_unstable_by(|left, right| path_order(left.as_os_str(), right.as_os_str()));
        Ok(found)
    }

    /// Adds what the directories have, one after the other, up to the one with which there would be too much.
    fn visit_all(&self, directories: &[Directory], found: &mut Found, below: &mut Vec<Directory>) {
        let n_entries = AtomicUsize::new(found.n_entries);
        let enough = || n_entries.load(Relaxed) > self.max_entries || self.stop.halt().is_some();
        let visit = |(): &mut (), directory: &Directory| {
            let visit = self.visit(directory);
            n_entries.fetch_add(visit.as_ref().map_or(0, |visit| visit.found.n_entries), Relaxed);
            visit
        };
        let visits = parallel::in_order(directories, enough, || (), visit);
        if visits.len() < directories.len() {
            found.halt = self.stop.halt();
        }
        for visit in visits {
            match visit {
                Ok(visit) if found.n_entries + visit.found.n_entries > self.max_entries => {
                    found.is_full = true;
                    return;
                }
                Ok(visit) => below.extend(found.take(visit)),
                Err(AccessError::Vanished { .. }) => {}
                Err(_) => found.n_unlisted += 1,
            }
        }
    }

    fn visit(&self, directory: &Directory) -> Result<Visit, AccessError> {
        let listing = directory.list(self.workspace, self.stop)?;
        let mut visit = Visit::default();
        let found = &mut visit.found;
        found.n_entries = listing.entries.len() + listing.n_ignored;
        found.n_ignored = listing.n_ignored;
        found.n_unusable_rules = listing.n_unusable_rules;
        match listing.cut {
            Some(Cut::Full) => found.n_cut_directories = 1,
            Some(Cut::Halted(halt)) => found.halt = Some(halt),
            None => {}
        }
        for entry in listing.entries {
            if entry.name == ".git" {
                found.is_git_skipped = true;
                continue;
            }
            let path = directory.path.join(&entry.name);
            match entry.kind {
                FileKind::File => {
                    found.n_files += 1;
                    if (self.keep)(&path) {
                        found.files.push(path.into_boxed_path());
                    }
                }
                FileKind::Directory => {
                    let rules = Arc::clone(&listing.rules);
                    visit.directories.push(Directory { path, rules, n_unusable_rules: 0 });
                }
                FileKind::Symlink => found.n_links += 1,
                _ => found.n_special += 1,
            }
        }
        Ok(visit)
    }
}

impl Directory {
    pub(crate) fn new(workspace: &Workspace, path: &Path) -> Self {
        let (rules, n_unusable_rules) = Rules::above(workspace, path);
        Self { path: path.to_owned(), rules, n_unusable_rules }
    }

    pub(crate) fn list(&self, workspace: &Workspace, stop: &Stop) -> Result<Listing, AccessError> {
        let mut entries = Vec::new();
        let mut cut = None;
        for entry in workspace.read_dir(&self.path)? {
            if entries.len() % ENTRIES_PER_LOOK == 0 {
                cut = stop.halt().map(Cut::Halted);
            }
            if entries.len() == MAX_DIRECTORY_ENTRIES {
                cut = Some(Cut::Full);
            }
            if cut.is_some() {
                break;
            }
            entries.push(entry?);
        }
        let is_present = |file: &&str| entries.iter().any(|entry| entry.name == **file && entry.kind == FileKind::File);
        let ignore_files: Vec<&str> = IGNORE_FILES.into_iter().filter(|file| is_present(file)).collect();
        let (rules, n_unusable) = self.rules.enter(workspace, &self.path, &ignore_files);
        let n_all = entries.len();
        entries.retain(|entry| !rules.ignores(&self.path.join(&entry.name), entry.kind == FileKind::Directory));
        let n_ignored = n_all - entries.len();
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        Ok(Listing { entries, rules, n_ignored, n_unusable_rules: self.n_unusable_rules + n_unusable, cut })
    }
}

/// Orders paths component by component: `a/b` before `a-b`, as their directories would be listed.
fn path_order(left: &OsStr, right: &OsStr) -> Ordering {
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    left.as_encoded_bytes().iter().map(rank).cmp(right.as_encoded_bytes().iter().map(rank))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::answer::Answer;

    /// What a walk of at most so many entries finds in 8 directories of 10 files each: 88 entries in all.
    fn walk_within(max_entries: usize) -> (usize, String) {
        let root = tempfile::tempdir().unwrap();
        for directory in 0..8 {
            let directory = root.path().join(directory.to_string());
            std::fs::create_dir(&directory).unwrap();
            (0..10).for_each(|file| std::fs::write(directory.join(file.to_string()), "").unwrap());
        }
        let workspace = Workspace::open(root.path()).unwrap();
        let stop = Stop::after(Duration::from_mins(1));
        let walk = Walk { workspace: &workspace, stop: &stop, keep: &|_| true, max_entries };
        let found = walk.run(Path::new("")).unwrap();
        let mut answer = Answer::default();
        found.note_omissions(&mut answer);
        assert!(
            found.files.iter().enumerate().all(|(n, file)| **file == *Path::new(&format!("{}/{}", n / 10, n % 10)))
        );
        (found.files.len(), answer.done("").for_model)
    }

    #[test]
    fn a_walk_never_takes_more_than_its_bound_and_says_that_it_stopped_only_if_something_was_left() {
        assert_eq!(walk_within(30), (20, "[stopped after 28 entries, more were left; narrow the path]".to_owned()));
        assert_eq!(walk_within(87), (70, "[stopped after 78 entries, more were left; narrow the path]".to_owned()));
        assert_eq!(walk_within(88), (80, String::new()));
    }
}
