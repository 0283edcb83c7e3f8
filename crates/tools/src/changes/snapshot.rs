//! `TreeSnapshot`: the files of the workspace at one moment, to tell which of them a command changed.
//!
//! It sees what a search sees: it follows no links and does not enter ignored directories. Hidden entries of listed
//! directories are known by name, so that nothing appears there unnoticed. Git directories are located, but not
//! entered.

mod difference;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sortie_sandbox::{AccessError, Entry, FileKind, Stamp, Workspace};
use tokio_util::sync::CancellationToken;

pub(super) use self::difference::Difference;
use crate::answer::halt::{Halt, Stop};
use crate::answer::phrases::grouped;
use crate::answer::tool_error::explain;
use crate::files::walk::{Cut, Directory, DirectoryListing};

/// Limits of a snapshot, in entries and in time.
const MAX_ENTRIES: usize = 50_000;
const MAX_TIME: Duration = Duration::from_secs(2);

/// Name of the git directory or file in a working tree.
pub(super) const GIT: &str = ".git";
/// Entries that every git directory has, under any name.
pub(super) const IN_GIT_DIRECTORIES: [&str; 3] = ["HEAD", "objects", "refs"];

/// The files of some directories at one moment.
#[derive(Debug, Default)]
pub(super) struct TreeSnapshot {
    /// Sorted by name.
    directories: HashMap<PathBuf, Vec<(OsString, Sight)>>,
    n_entries: usize,
    n_unlisted: usize,
    /// The reason why it is incomplete.
    pub(super) lack: Option<String>,
    /// Directories that contain a `.git`.
    pub(super) work_trees: Vec<PathBuf>,
    /// Git directories with another name.
    pub(super) bare: Vec<PathBuf>,
}

/// Knowledge about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// A file, a link or the like: equal numbers mean equal states.
    File(u64),
    /// Not examined any further.
    Hidden,
}

impl TreeSnapshot {
    /// Examines these directories: relative to the root, or absolute in an added directory.
    pub(super) fn take(workspace: &Workspace, bases: &[PathBuf], cancel: &CancellationToken) -> Self {
        Self::take_within(MAX_ENTRIES, workspace, bases, &Stop::at(Instant::now() + MAX_TIME, cancel.clone()))
    }

    fn take_within(max_entries: usize, workspace: &Workspace, bases: &[PathBuf], stop: &Stop) -> Self {
        let mut snapshot = Self::default();
        let mut queue = VecDeque::new();
        for base in bases {
            let base = Directory::new(workspace, base);
            match base.list(workspace, stop) {
                Ok(listing) => snapshot.add(base.path, &listing, &mut queue),
                Err(error) => snapshot.lack = Some(explain(&error)),
            }
        }
        // Top down, so that a snapshot that is cut short has seen the most important entries.
        while snapshot.lack.is_none()
            && let Some(directory) = queue.pop_front()
        {
            match directory.list(workspace, stop) {
                Ok(listing) if is_git_directory(&listing) => snapshot.bare.push(directory.path),
                Ok(listing) => snapshot.add(directory.path, &listing, &mut queue),
                Err(AccessError::Vanished { .. }) => {}
                Err(_) => snapshot.n_unlisted += 1,
            }
            if snapshot.n_entries > max_entries {
                snapshot.lack = Some(format!("there are more than {} files", grouped(max_entries as u64)));
            }
        }
        snapshot
    }

    fn add(&mut self, path: PathBuf, listing: &DirectoryListing, queue: &mut VecDeque<Directory>) {
        if let Some(cut) = listing.cut {
            self.lack = Some(match cut {
                Cut::Full => "a directory has too many entries".to_owned(),
                Cut::Halted(Halt::TimedOut) => format!("the check took more than {} s", MAX_TIME.as_secs()),
                Cut::Halted(Halt::Cancelled) => "it was cancelled".to_owned(),
            });
        }
        let mut entries = Vec::with_capacity(listing.entries.len() + listing.ignored.len());
        for entry in &listing.entries {
            if entry.kind != FileKind::Directory {
                entries.extend(listing.stamp(entry).map(|stamp| (entry.name.clone(), Sight::File(number(&stamp)))));
            } else if entry.name == GIT {
                entries.push((entry.name.clone(), Sight::Hidden));
            } else {
                queue.push_back(listing.below(path.join(&entry.name)));
            }
        }
        entries.extend(listing.ignored.iter().map(|entry| (entry.name.clone(), Sight::Hidden)));
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        if has(listing, GIT) {
            self.work_trees.push(path.clone());
        }
        self.n_entries += entries.len();
        self.directories.insert(path, entries);
    }
}

fn is_git_directory(listing: &DirectoryListing) -> bool {
    IN_GIT_DIRECTORIES.iter().all(|name| has(listing, name))
}

/// True if an entry of this name exists, hidden or not.
fn has(listing: &DirectoryListing, name: &str) -> bool {
    let by_name = |entry: &Entry| entry.name.as_os_str().cmp(name.as_ref());
    listing.entries.binary_search_by(by_name).is_ok() || listing.ignored.iter().any(|entry| entry.name == name)
}

/// Hashes a state: different states have different numbers, barring collisions.
fn number(stamp: &Stamp) -> u64 {
    let mut hasher = DefaultHasher::new();
    stamp.hash(&mut hasher);
    hasher.finish()
}

/// True for `.git` in a working tree: the directory, or the file that points to it.
pub(super) fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == GIT)
}
