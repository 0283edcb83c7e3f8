//! Resources of a living process, read from `/proc` while it runs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Everything that is looked at, at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Vitals {
    /// Private memory: without the program's code, as far as it has come into memory.
    pub(super) memory_mb: f64,
    pub(super) descriptors: f64,
    pub(super) threads: f64,
    /// Processes below it, however deep.
    pub(super) processes: f64,
    pub(super) journal_mb: f64,
    /// Size of the write-ahead log that SQLite has not put into the journal's file yet.
    pub(super) wal_mb: f64,
}

impl Vitals {
    /// Samples a process and its journal; an error once the process has ended.
    pub(super) fn of(process: u32, journal: &Path) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        Ok(Self {
            memory_mb: number(&status, "RssAnon:").context("it has no memory any more")? / 1e3,
            descriptors: fs::read_dir(format!("/proc/{process}/fd"))?.count() as f64,
            threads: number(&status, "Threads:").context("it has no threads any more")?,
            processes: n_below(process) as f64,
            journal_mb: megabytes(journal),
            wal_mb: megabytes(&journal.with_extension("db-wal")),
        })
    }
}

/// The number after a name in a `status` file.
fn number(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Counts the descendants of a process. One that ends meanwhile may be missed.
fn n_below(process: u32) -> usize {
    let mut ahead = vec![process.to_string()];
    let mut count = 0;
    while let Some(process) = ahead.pop() {
        for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            let before = ahead.len();
            ahead.extend(children.split_whitespace().map(str::to_owned));
            count += ahead.len() - before;
        }
    }
    count
}

/// The size of a file that may not be there.
fn megabytes(path: &Path) -> f64 {
    fs::metadata(path).map_or(0.0, |metadata| metadata.len() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_seen_with_its_descendants() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let vitals = Vitals::of(std::process::id(), Path::new("/nonexistent/journal.db"));
        child.kill().unwrap();
        child.wait().unwrap();
        let vitals = vitals.unwrap();
        assert!(vitals.memory_mb > 0.5 && vitals.descriptors >= 3.0 && vitals.threads >= 1.0, "{vitals:?}");
        assert!(vitals.processes >= 1.0, "{vitals:?}");
        assert!(Vitals::of(child.id(), Path::new("/nonexistent/journal.db")).is_err());
    }
}
