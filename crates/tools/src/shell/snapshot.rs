//! The files of the workspace at one moment, to tell afterwards which of them a command has changed.
//!
//! It sees what a search sees: what ignore files hide is not looked at, no link followed, and of a repository only the
//! names by which git could be made to run something. But it knows by name what is hidden in the directories that it has
//! listed, so that nothing appears there unnoticed.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sortie_sandbox::{AccessError, Entry, FileKind, Stamp, Workspace};
use tokio_util::sync::CancellationToken;

use crate::answer::{explain, grouped};
use crate::blocking::{Halt, Stop};
use crate::walk::{Cut, Directory, Listing};

/// The most that is looked at, in entries and in time. Beyond that, changes are not listed.
const MAX_ENTRIES: usize = 50_000;
const MAX_TIME: Duration = Duration::from_secs(2);

/// Git's own place in a working tree, and the directories in it, itself included, whose names are known.
const GIT: &str = ".git";
const IN_GIT: [&str; 3] = ["", "hooks", "info"];

#[derive(Debug, Default)]
pub(super) struct Snapshot {
    entries: HashMap<PathBuf, Sight>,
    /// Why it has not everything.
    lack: Option<String>,
    /// Whether every name at the top is known.
    is_top_known: bool,
    n_unlisted: usize,
    /// Where repositories are.
    gits: Vec<PathBuf>,
}

/// What is known of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// A file, a link or the like: the same number, the same state.
    File(u64),
    Ignored(FileKind),
}

/// What is not as it was.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Files that were made, changed or removed, sorted; `None` where that cannot be told.
    pub(super) changed: Option<Vec<PathBuf>>,
    /// What was not there before and is there now, hidden by ignore files or not, sorted.
    pub(super) appeared: Vec<PathBuf>,
    /// What there is to say about it.
    pub(super) note: Option<String>,
}

impl Snapshot {
    /// Looks through these directories: relative to the root, or absolute in an added directory.
    pub(super) fn take(workspace: &Workspace, bases: &[PathBuf], cancel: &CancellationToken) -> Self {
        Self::take_within(MAX_ENTRIES, workspace, bases, &Stop::at(Instant::now() + MAX_TIME, cancel.clone()))
    }

    fn take_within(max_entries: usize, workspace: &Workspace, bases: &[PathBuf], stop: &Stop) -> Self {
        let mut snapshot = Self::default();
        let mut queue = VecDeque::new();
        for base in bases {
            let base = Directory::new(workspace, base);
            match base.list(workspace, stop) {
                Ok(listing) => snapshot.add(&base.path, &listing, &mut queue),
                Err(error) => snapshot.lack = Some(explain(&error)),
            }
        }
        snapshot.is_top_known = snapshot.lack.is_none();
        // From the top downwards, so that a look that is cut short has seen what matters most.
        while snapshot.lack.is_none()
            && let Some(directory) = queue.pop_front()
        {
            match directory.list(workspace, stop) {
                Ok(listing) => snapshot.add(&directory.path, &listing, &mut queue),
                Err(AccessError::Vanished { .. }) => {}
                Err(_) => snapshot.n_unlisted += 1,
            }
            if snapshot.entries.len() > max_entries {
                snapshot.lack = Some(format!("there are more than {} files", grouped(max_entries as u64)));
            }
        }
        for git in std::mem::take(&mut snapshot.gits) {
            snapshot.add_git(workspace, &git);
        }
        snapshot
    }

    fn add(&mut self, path: &Path, listing: &Listing, queue: &mut VecDeque<Directory>) {
        if let Some(cut) = listing.cut {
            self.lack = Some(match cut {
                Cut::Full => "a directory has too many entries".to_owned(),
                Cut::Halted(Halt::TimedOut) => format!("looking took more than {} s", MAX_TIME.as_secs()),
                Cut::Halted(Halt::Cancelled) => "it was cancelled".to_owned(),
            });
        }
        for entry in &listing.entries {
            let path = path.join(&entry.name);
            if entry.name == GIT && entry.kind == FileKind::Directory {
                self.gits.push(path);
            } else if entry.kind == FileKind::Directory {
                queue.push_back(listing.below(path));
            } else if let Some(stamp) = listing.stamp(entry) {
                self.entries.insert(path, Sight::File(number(&stamp)));
            }
        }
        let ignored = |entry: &Entry| (path.join(&entry.name), Sight::Ignored(entry.kind));
        self.entries.extend(listing.ignored.iter().map(ignored));
    }

    /// What git does there is no change of the workspace, so that all of it counts as hidden.
    fn add_git(&mut self, workspace: &Workspace, git: &Path) {
        for directory in IN_GIT.map(|name| git.join(name)) {
            let Ok(entries) = workspace.read_dir(&directory) else { continue };
            let files = entries.flatten().filter(|entry| entry.kind != FileKind::Directory);
            self.entries.extend(files.map(|entry| (directory.join(&entry.name), Sight::Ignored(entry.kind))));
        }
    }

    /// What is different in `after`, a look at the same directories.
    pub(super) fn compare(&self, after: &Self) -> Difference {
        let is_new = |path: &&PathBuf| !self.entries.contains_key(*path);
        let may_be_new = |path: &&PathBuf| self.lack.is_none() || self.is_top_known && is_at_top(path);
        let mut appeared: Vec<PathBuf> = after.entries.keys().filter(is_new).filter(may_be_new).cloned().collect();
        appeared.sort_unstable();
        if let Some(lack) = self.lack.as_ref().or(after.lack.as_ref()) {
            let note = Some(format!("which files it changed is not listed: {lack}"));
            return Difference { changed: None, appeared, note };
        }
        let is_different = |(path, sight): (&PathBuf, &Sight)| {
            let is_different = match (sight, after.entries.get(path)) {
                (Sight::File(before), Some(Sight::File(after))) => before != after,
                (Sight::File(_), None) => true,
                (_, Some(Sight::Ignored(_))) | (Sight::Ignored(_), _) => false,
            };
            is_different.then(|| path.clone())
        };
        let is_made = |path: &&PathBuf| matches!(after.entries.get(*path), Some(Sight::File(_)));
        let mut changed: Vec<PathBuf> = self.entries.iter().filter_map(is_different).collect();
        changed.extend(appeared.iter().filter(is_made).cloned());
        changed.sort_unstable();
        let is_less_seen = after.n_unlisted > self.n_unlisted;
        let note =
            is_less_seen.then(|| "some directories can no longer be listed: changes in them are not told".into());
        Difference { changed: Some(changed), appeared, note }
    }

    /// Whether an entry is a directory that ignore files hide.
    pub(super) fn is_ignored_directory(&self, path: &Path) -> bool {
        self.entries.get(path) == Some(&Sight::Ignored(FileKind::Directory))
    }
}

/// Two states have the same number only if they are the same, as far as chance goes.
fn number(stamp: &Stamp) -> u64 {
    let mut hasher = DefaultHasher::new();
    stamp.hash(&mut hasher);
    hasher.finish()
}

/// Whether it is known although a look was cut short.
fn is_at_top(path: &Path) -> bool {
    path.is_relative() && (path.components().count() == 1 || path.starts_with(GIT))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn project(files: &[&str]) -> (TempDir, Workspace) {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let workspace = Workspace::open(root.path()).unwrap();
        (root, workspace)
    }

    fn take(max_entries: usize, workspace: &Workspace) -> Snapshot {
        let stop = Stop::after(Duration::from_mins(1));
        Snapshot::take_within(max_entries, workspace, &[PathBuf::new()], &stop)
    }

    #[test]
    fn beyond_the_bound_changes_are_not_listed_and_that_is_said() {
        let (root, workspace) = project(&["a/1", "a/2", "b/1", "b/2"]);
        for (first, second) in [(3, 100), (100, 3)] {
            let before = take(first, &workspace);
            fs::write(root.path().join("a/1"), "changed").unwrap();
            let difference = before.compare(&take(second, &workspace));
            assert_eq!(difference.changed, None);
            let note = "which files it changed is not listed: there are more than 3 files";
            assert_eq!(difference.note.as_deref(), Some(note));
        }
    }

    #[test]
    fn where_not_all_was_seen_before_only_the_top_can_tell_what_has_appeared() {
        let (root, workspace) = project(&["a/1", "a/2", "b/1", "b/2"]);
        let before = take(3, &workspace);
        for file in ["new", "a/new", "b/new"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let appeared = before.compare(&take(100, &workspace)).appeared;
        assert_eq!(appeared, [PathBuf::from("new")], "what was not looked at may have been there all the time");
    }

    #[test]
    fn a_look_without_time_says_so_and_takes_nothing_for_new() {
        let (_root, workspace) = project(&["a"]);
        let before = Snapshot::take_within(100, &workspace, &[PathBuf::new()], &Stop::after(Duration::ZERO));
        let difference = before.compare(&take(100, &workspace));
        assert_eq!((difference.changed, difference.appeared), (None, Vec::new()));
        assert_eq!(
            difference.note.as_deref(),
            Some("which files it changed is not listed: looking took more than 2 s")
        );
    }

    #[test]
    fn a_directory_that_cannot_be_listed_is_told_where_it_is_the_one_to_look_at() {
        let (_root, workspace) = project(&["a"]);
        let stop = Stop::after(Duration::from_mins(1));
        let before = Snapshot::take_within(100, &workspace, &["absent".into()], &stop);
        let difference = before.compare(&take(100, &workspace));
        assert_eq!((difference.changed, difference.appeared), (None, Vec::new()));
        assert!(difference.note.unwrap().starts_with("which files it changed is not listed: `absent`"));
    }

    #[test]
    fn a_file_that_becomes_ignored_or_visible_has_not_changed_by_that() {
        let (root, workspace) = project(&["a.log", "b.txt"]);
        fs::write(root.path().join(".gitignore"), "*.log").unwrap();
        let before = take(100, &workspace);
        fs::write(root.path().join(".gitignore"), "*.txt").unwrap();
        let difference = before.compare(&take(100, &workspace));
        assert_eq!(difference.changed, Some(vec![PathBuf::from(".gitignore")]));
    }
}
