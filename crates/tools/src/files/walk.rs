//! A walk over the files of a tree in path order; it respects ignore files and follows no links.
//!
//! Several threads list directories and work on files, but the results equal those of one thread. A walk that is cut
//! short has always completed a prefix of the whole. It opens no files except ignore files.

mod ahead;
mod directory;
mod summary;

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sortie_sandbox::{AccessError, FileKind, Workspace};

use self::ahead::{Ahead, Child, Next, Visit};

pub(crate) use self::directory::{Cut, Directory, DirectoryListing};
pub(crate) use self::summary::{HIDDEN, WalkSummary, unfinished};
use super::parallel;
use crate::answer::halt::Stop;

/// Maximum number of entries of a walk. With paths of 60 bytes they and the search cost less than 64 MiB.
const MAX_ENTRIES: usize = 300_000;

/// The tree to walk.
pub(crate) struct Tree<'a> {
    pub(crate) workspace: &'a Workspace,
    /// Starting directory, relative to the root.
    pub(crate) base: &'a Path,
    pub(crate) stop: &'a Stop,
    /// Selects files by their paths relative to the root.
    pub(crate) is_wanted: &'a (dyn Fn(&Path) -> bool + Sync),
}

impl Tree<'_> {
    /// Runs `work` on the wanted files, each thread with a `state` of its own, until all are done or `enough` returns
    /// true.
    ///
    /// The results are in path order. Every file before the last started one is completed, so that enough results are
    /// always those of the first files.
    pub(crate) fn each<S, R: Send>(
        &self,
        enough: impl Fn() -> bool + Sync,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, Box<Path>) -> R + Sync,
    ) -> Result<(Vec<R>, WalkSummary), AccessError> {
        self.each_within(MAX_ENTRIES, enough, state, work)
    }

    fn each_within<S, R: Send>(
        &self,
        max_entries: usize,
        enough: impl Fn() -> bool + Sync,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, Box<Path>) -> R + Sync,
    ) -> Result<(Vec<R>, WalkSummary), AccessError> {
        let base = self.visit(&Directory::new(self.workspace, self.base))?;
        let ahead = Ahead::new(base, max_entries);
        let n_threads = if ahead.is_small() { 1 } else { parallel::threads() };
        let walk = Walk { tree: self, ahead: Mutex::new(ahead), has_listed: Condvar::new() };
        let take = || walk.take(&enough);
        let batch = |state: &mut S, files: Vec<Box<Path>>| -> Vec<R> {
            files.into_iter().map(|file| work(state, file)).collect()
        };
        let results = parallel::in_order(n_threads, take, state, batch).into_iter().flatten().collect();
        let ahead = walk.ahead.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((results, ahead.found))
    }

    fn visit(&self, directory: &Directory) -> Result<Visit, AccessError> {
        let mut listing = directory.list(self.workspace, self.stop)?;
        let mut visit = Visit::default();
        let found = &mut visit.found;
        found.n_entries = listing.entries.len() + listing.ignored.len() + listing.n_hidden + listing.n_unfinished;
        found.n_ignored = listing.ignored.len();
        found.n_hidden = listing.n_hidden;
        found.n_unfinished = listing.n_unfinished;
        found.n_unusable_rules = listing.n_unusable_rules;
        match listing.cut {
            Some(Cut::Full) => found.n_cut_directories = 1,
            Some(Cut::Halted(halt)) => found.halt = Some(halt),
            None => {}
        }
        for entry in std::mem::take(&mut listing.entries) {
            if entry.name == ".git" {
                found.is_git_skipped = true;
                continue;
            }
            let path = directory.path.join(&entry.name);
            match entry.kind {
                FileKind::File => {
                    found.n_files += 1;
                    if (self.is_wanted)(&path) {
                        found.n_wanted += 1;
                        visit.children.push(Child::File(path.into_boxed_path()));
                    }
                }
                FileKind::Directory => visit.children.push(Child::Directory(listing.below(path))),
                FileKind::Symlink => found.n_links += 1,
                _ => found.n_special += 1,
            }
        }
        Ok(visit)
    }
}

/// A running walk, shared by its threads.
struct Walk<'a> {
    tree: &'a Tree<'a>,
    ahead: Mutex<Ahead>,
    has_listed: Condvar,
}

impl Walk<'_> {
    /// Returns the next files and the number of the first, listing directories as needed.
    fn take(&self, enough: &impl Fn() -> bool) -> Option<(usize, Vec<Box<Path>>)> {
        let mut ahead = self.lock();
        loop {
            if enough() {
                return None;
            }
            if let (Some(halt), false) = (self.tree.stop.halt(), ahead.is_empty()) {
                ahead.found.halt = Some(halt);
                return None;
            }
            match ahead.next() {
                Next::Files(first, files) => return Some((first, files)),
                Next::List(number, directory) => {
                    drop(ahead);
                    self.list(number, &directory);
                    ahead = self.lock();
                }
                Next::Wait => ahead = self.has_listed.wait(ahead).unwrap_or_else(PoisonError::into_inner),
                Next::Nothing => return None,
            }
        }
    }

    fn list(&self, number: usize, directory: &Directory) {
        let mut delivery = Delivery { walk: self, number, visit: Visit::default() };
        match self.tree.visit(directory) {
            Ok(visit) => delivery.visit = visit,
            Err(AccessError::Vanished { .. }) => {}
            Err(_) => delivery.visit.found.n_unlisted = 1,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Delivers a directory's entries, even if listing it panics: otherwise other threads would wait forever.
struct Delivery<'a> {
    walk: &'a Walk<'a>,
    number: usize,
    visit: Visit,
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        self.walk.lock().listed(self.number, std::mem::take(&mut self.visit));
        self.walk.has_listed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::answer::Answer;

    /// This many directories of 10 files each.
    fn project(n_directories: usize) -> (TempDir, Workspace) {
        let root = tempfile::tempdir().unwrap();
        for directory in 0..n_directories {
            let directory = root.path().join(format!("{directory:03}"));
            std::fs::create_dir(&directory).unwrap();
            (0..10).for_each(|file| std::fs::write(directory.join(file.to_string()), "").unwrap());
        }
        let workspace = Workspace::open(root.path()).unwrap();
        (root, workspace)
    }

    fn tree<'a>(workspace: &'a Workspace, stop: &'a Stop, is_wanted: &'a (dyn Fn(&Path) -> bool + Sync)) -> Tree<'a> {
        Tree { workspace, base: Path::new(""), stop, is_wanted }
    }

    fn are_the_first(files: &[Box<Path>]) -> bool {
        files.iter().enumerate().all(|(n, file)| **file == *Path::new(&format!("{:03}/{}", n / 10, n % 10)))
    }

    /// The findings of a walk of at most this many entries among 88.
    fn walk_within(max_entries: usize) -> (usize, String) {
        let (_root, workspace) = project(8);
        let stop = Stop::after(Duration::from_mins(1));
        let tree = tree(&workspace, &stop, &|_| true);
        let (files, found) = tree.each_within(max_entries, || false, || (), |(), file| file).unwrap();
        let mut answer = Answer::default();
        found.note_omissions(&mut answer);
        assert!(are_the_first(&files));
        (files.len(), answer.done("").for_model)
    }

    #[test]
    fn a_walk_stays_within_its_bound_and_reports_a_stop_only_if_files_are_left() {
        assert_eq!(walk_within(30), (20, "[stopped after 28 entries, more were left; narrow the path]".to_owned()));
        assert_eq!(walk_within(87), (70, "[stopped after 78 entries, more were left; narrow the path]".to_owned()));
        assert_eq!(walk_within(88), (80, String::new()));
    }

    #[test]
    fn a_walk_with_enough_results_has_done_the_first_files_and_lists_no_more() {
        let (_root, workspace) = project(20);
        let stop = Stop::after(Duration::from_mins(1));
        let n_done = AtomicUsize::new(0);
        let (files, found) = tree(&workspace, &stop, &|_| true)
            .each(
                || n_done.load(Ordering::Relaxed) >= 25,
                || (),
                |(), file| {
                    n_done.fetch_add(1, Ordering::Relaxed);
                    file
                },
            )
            .unwrap();
        assert!(are_the_first(&files) && files.len() >= 25, "{files:?}");
        assert!(found.n_files < 200, "a batch for each thread is the most that comes on top");
    }

    #[test]
    fn a_panic_while_a_directory_is_listed_ends_the_walk() {
        let (_root, workspace) = project(5);
        let stop = Stop::after(Duration::from_mins(1));
        let is_wanted = |path: &Path| if path.starts_with("003") { panic!("no such path") } else { true };
        let tree = tree(&workspace, &stop, &is_wanted);
        let walking = std::panic::AssertUnwindSafe(|| tree.each(|| false, || (), |(), file| file).map(|_| ()));
        let panic = std::panic::catch_unwind(walking).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"no such path"));
    }
}
