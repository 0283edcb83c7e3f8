//! Retention: after a run, once a day, tasks that ended too long ago are removed.
//!
//! A failure here never affects the run. It is tried again the next day.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, Pruned};
use sortie_protocol::{TaskId, Timestamp};
use sortie_sandbox::SpillDir;

use crate::error::{CommandError, with_causes};
use crate::settings::Settings;

const DAY: Duration = Duration::from_hours(24);

/// Retention time, and the mark of the last removal.
#[derive(Debug, Clone)]
pub(crate) struct Retention {
    kept_for: Option<Duration>,
    /// Empty file whose modification time is the start of the last removal.
    mark: PathBuf,
    reports: PathBuf,
}

impl Retention {
    pub(crate) fn new(settings: &Settings) -> Self {
        let places = &settings.places;
        Self { kept_for: settings.retention(), mark: places.pruned(), reports: places.reports() }
    }

    /// Removes what is too old, unless that was done within a day. Blocks.
    pub(crate) fn tend(&self, journal: &Arc<dyn Journal>) {
        let Some(kept_for) = self.kept_for else { return };
        // Marked first, so that only one of several simultaneous runs does it. Without a mark it would happen every
        // time.
        if was_touched_within(&self.mark, DAY) || touch(&self.mark).is_err() {
            return;
        }
        // The run itself has reported a journal that cannot be written.
        drop(prune(journal.as_ref(), before(kept_for), &self.reports));
    }
}

/// Time this far back.
pub(crate) fn before(age: Duration) -> Timestamp {
    Timestamp(SystemClock.now().0.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
}

/// Result of a removal.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    pub(crate) pruned: Pruned,
    /// Reasons why some files are still there.
    pub(crate) left: Vec<String>,
}

/// Removes old trees with their reports and spilled outputs. Nothing is removed if the files cannot be listed.
pub(crate) fn prune(journal: &dyn Journal, older_than: Timestamp, reports: &Path) -> Result<Removed, CommandError> {
    let mut spilled = Spilled::find(reports)?;
    let mut left = Vec::new();
    let pruned = journal.prune(older_than, &mut |task| left.extend(spilled.discard(task)))?;
    Ok(Removed { pruned, left })
}

/// Files that tasks have spilled. A file without a task's name, such as one taken out of a workspace, stays.
struct Spilled {
    /// `None` if nothing was ever spilled.
    directory: Option<SpillDir>,
    by_task: HashMap<TaskId, Vec<String>>,
}

impl Spilled {
    fn find(reports: &Path) -> Result<Self, CommandError> {
        let mut by_task: HashMap<TaskId, Vec<String>> = HashMap::new();
        if fs::symlink_metadata(reports).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(Self { directory: None, by_task });
        }
        let directory = open_reports(reports)?;
        for name in directory.names().map_err(|error| CommandError::config(with_causes(&error)))? {
            if let Some(task) = owner(&name) {
                by_task.entry(task).or_default().push(name);
            }
        }
        Ok(Self { directory: Some(directory), by_task })
    }

    /// Removes the files of a task, and reports those that cannot be removed.
    fn discard(&mut self, task: TaskId) -> Vec<String> {
        let names = self.by_task.remove(&task).unwrap_or_default();
        let discard = |name: &String| self.directory.as_ref()?.discard(name).err();
        names.iter().filter_map(discard).map(|error| with_causes(&error)).collect()
    }
}

/// Task in the name of a file: `agent-`, its letters, and more.
fn owner(name: &str) -> Option<TaskId> {
    let mut parts = name.splitn(3, '-');
    match (parts.next()?, parts.next()?, parts.next()?) {
        ("agent", letters, _rest) => letters.parse().ok(),
        _ => None,
    }
}

/// Sets the file's time to now; creates it for this user alone if it is missing.
fn touch(file: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    file.set_modified(SystemTime::now())
}

fn was_touched_within(file: &Path, time: Duration) -> bool {
    let touched = fs::metadata(file).and_then(|file| file.modified()).ok();
    touched.is_some_and(|touched| SystemTime::now().duration_since(touched).unwrap_or_default() < time)
}

/// Directory of reports and long outputs.
pub(crate) fn open_reports(directory: &Path) -> Result<SpillDir, CommandError> {
    SpillDir::open(directory).map_err(|error| CommandError::storage(with_causes(&error)))
}
