//! Old tasks go by themselves: after a run, once a day, those that ended longer ago than they are kept.
//!
//! Nothing here can spoil a run. What could not be removed today is tried again tomorrow.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError, Pruned};
use sortie_protocol::Timestamp;

use crate::settings::Settings;

const DAY: Duration = Duration::from_hours(24);

/// What is to be kept, and where it is noted when it was last looked after.
#[derive(Debug, Clone)]
pub(crate) struct Retention {
    kept_for: Option<Duration>,
    /// An empty file; its time is when the last pruning began.
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
        // First of all, so that of several runs that end together one does it. Without a mark it would be done every time.
        if was_touched_within(&self.mark, DAY) || touch(&self.mark).is_err() {
            return;
        }
        // A journal that cannot be written has been told of by the run itself.
        drop(prune(journal.as_ref(), before(kept_for), &self.reports));
    }
}

/// The time that lies so far back.
pub(crate) fn before(age: Duration) -> Timestamp {
    Timestamp(SystemClock.now().0.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
}

/// Removes old trees, and their reports with them.
pub(crate) fn prune(journal: &dyn Journal, older_than: Timestamp, reports: &Path) -> Result<Pruned, JournalError> {
    // Reports are named by their real paths.
    let reports = reports.canonicalize().ok();
    journal.prune(older_than, &mut |report| {
        // Whatever a log says: nothing goes that is not a report of ours.
        if report.parent().is_some_and(|folder| Some(folder) == reports.as_deref()) {
            fs::remove_file(report).ok();
        }
    })
}

/// Gives the file the time of now, and makes it if it is not there, for this user alone.
fn touch(file: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    file.set_modified(SystemTime::now())
}

fn was_touched_within(file: &Path, time: Duration) -> bool {
    let touched = fs::metadata(file).and_then(|file| file.modified()).ok();
    touched.is_some_and(|touched| SystemTime::now().duration_since(touched).unwrap_or_default() < time)
}
