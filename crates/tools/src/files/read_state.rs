//! `Seen`: the files that one task has read, each in the state that its model knows.
//!
//! A file that changed since then must not be edited from memory. Files that a search found or a listing named do not
//! count as read. The oldest entries are forgotten, so the memory stays bounded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sortie_mutant::is_out;
use sortie_policy::Redactor;
use sortie_sandbox::Stamp;
use tokio::sync::OwnedMutexGuard;

/// Maximum number of remembered files.
const MAX_FILES: usize = 10_000;
/// Maximum size of remembered content, for one file and for all files.
pub(crate) const MAX_FILE_BYTES: usize = 2 * 1024 * 1024;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The files one task has read. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    files: Arc<Mutex<Files>>,
    /// The redactor applied to everything this task sees.
    redactor: Option<Arc<Redactor>>,
    /// Held by the call that edits.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct Files {
    by_path: HashMap<PathBuf, Entry>,
    /// Total size of all remembered contents.
    n_bytes: usize,
    n_recorded: u64,
}

#[derive(Debug)]
struct Entry {
    sight: KnownFile,
    /// Sequence number of the record.
    at: u64,
}

/// A file as it was when the task last saw it.
#[derive(Debug, Clone)]
pub(crate) struct KnownFile {
    pub(crate) stamp: Stamp,
    /// The whole content, if it was small enough to keep.
    pub(crate) content: Option<Arc<[u8]>>,
}

impl KnownFile {
    /// True if the file is unchanged. Compares content if it is known, since a time can change without an edit and stay
    /// the same despite one.
    pub(crate) fn is_current(&self, stamp: &Stamp, content: &[u8]) -> bool {
        is_out("stale-read") || self.content.as_deref().map_or(self.stamp == *stamp, |seen| seen == content)
    }
}

impl Seen {
    /// Creates the state of a task that sees files without their secrets.
    pub fn without_secrets(redactor: Arc<Redactor>) -> Self {
        Self { redactor: Some(redactor), ..Self::default() }
    }

    /// True if a new text lacks a secret of the old one, which the task has never seen.
    pub(crate) fn loses_secrets(&self, before: &str, after: &str) -> bool {
        let Some(redactor) = &self.redactor else { return false };
        let is_lost = |secret: &&str| after.matches(*secret).count() < before.matches(*secret).count();
        redactor.secrets(before).iter().any(is_lost)
    }

    /// Serialises the edits of one task, so that it does not take its own work for a stranger's.
    pub(crate) async fn take_turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Records that the task knows this state of the file at `path`, a path from [`Workspace::locate`].
    ///
    /// [`Workspace::locate`]: sortie_sandbox::Workspace::locate
    pub(crate) fn record(&self, path: PathBuf, stamp: Stamp, content: Option<Vec<u8>>) {
        let content = content.filter(|content| content.len() <= MAX_FILE_BYTES).map(Arc::from);
        self.files().record(path, KnownFile { stamp, content });
    }

    pub(crate) fn sight(&self, path: &Path) -> Option<KnownFile> {
        self.files().by_path.get(path).map(|entry| entry.sight.clone())
    }

    fn files(&self) -> std::sync::MutexGuard<'_, Files> {
        // No update can be left half done.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    fn record(&mut self, path: PathBuf, sight: KnownFile) {
        self.n_recorded += 1;
        self.n_bytes += n_kept(&sight);
        if let Some(former) = self.by_path.insert(path, Entry { sight, at: self.n_recorded }) {
            self.n_bytes -= n_kept(&former.sight);
        }
        while self.n_bytes > MAX_BYTES {
            let with_content = self.by_path.values_mut().filter(|entry| entry.sight.content.is_some());
            let Some(oldest) = with_content.min_by_key(|entry| entry.at) else { break };
            self.n_bytes -= n_kept(&oldest.sight);
            oldest.sight.content = None;
        }
        if self.by_path.len() > MAX_FILES {
            let oldest = self.by_path.iter().min_by_key(|(_, entry)| entry.at).map(|(path, _)| path.clone());
            if let Some(entry) = oldest.and_then(|path| self.by_path.remove(&path)) {
                self.n_bytes -= n_kept(&entry.sight);
            }
        }
    }
}

fn n_kept(sight: &KnownFile) -> usize {
    sight.content.as_ref().map_or(0, |content| content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp() -> Stamp {
        Stamp::of(&std::fs::File::open(".").unwrap()).unwrap()
    }

    #[test]
    fn the_oldest_content_is_forgotten_first() {
        let seen = Seen::default();
        let n_files = MAX_BYTES / MAX_FILE_BYTES + 2;
        for index in 0..n_files {
            seen.record(index.to_string().into(), stamp(), Some(vec![0; MAX_FILE_BYTES]));
        }
        let kept: Vec<bool> =
            (0..n_files).map(|index| seen.sight(Path::new(&index.to_string())).unwrap().content.is_some()).collect();
        assert_eq!(kept.iter().filter(|kept| **kept).count(), MAX_BYTES / MAX_FILE_BYTES);
        assert!(!kept[0] && !kept[1] && kept[2], "{kept:?}");
    }

    #[test]
    fn replaced_content_no_longer_counts() {
        let seen = Seen::default();
        for _ in 0..100 {
            seen.record("a".into(), stamp(), Some(vec![0; MAX_FILE_BYTES]));
        }
        assert_eq!(seen.files().n_bytes, MAX_FILE_BYTES);
        seen.record("a".into(), stamp(), Some(vec![0; MAX_FILE_BYTES + 1]));
        assert!(seen.sight(Path::new("a")).unwrap().content.is_none(), "too large to be kept");
        assert_eq!(seen.files().n_bytes, 0);
    }

    #[test]
    fn the_number_of_remembered_files_is_bounded() {
        let seen = Seen::default();
        for index in 0..=MAX_FILES {
            seen.record(index.to_string().into(), stamp(), None);
        }
        assert!(seen.sight(Path::new("0")).is_none());
        assert!(seen.sight(Path::new("1")).is_some());
    }
}
