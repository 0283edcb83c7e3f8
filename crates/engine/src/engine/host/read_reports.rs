//! Reports that hosts have read. A host has no log, so the journal keeps a note among its commands.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_journal::{CommandId, Journal, JournalError};
use sortie_protocol::{Command, Failure, ReportMark};

use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;

/// Most commands that are read at once.
const MOST: usize = 500;

/// Reports that hosts have read, as far as the journal still knows.
#[derive(Debug, Default)]
pub(super) struct ReadReports {
    marks: HashSet<ReportMark>,
    /// The last command read.
    heard: CommandId,
}

impl ReadReports {
    /// Returns true if a host has read the report, in any process.
    pub(super) fn has(shared: &Mutex<Self>, journal: &dyn Journal, report: ReportMark) -> Result<bool, JournalError> {
        let mut known = shared.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let commands = journal.commands_after(known.heard, MOST)?;
            let Some((last, _)) = commands.last() else { return Ok(known.marks.contains(&report)) };
            known.heard = *last;
            known.marks.extend(commands.iter().filter_map(|(_, command)| match command {
                Command::MarkRead { task, leg } => Some(ReportMark { child: *task, leg: *leg }),
                _ => None,
            }));
        }
    }

    /// Records that a host has read these reports.
    pub(super) async fn add(
        shared: &Arc<Mutex<Self>>,
        journal: &Arc<dyn Journal>,
        reports: &[ReportMark],
    ) -> Result<(), Failure> {
        for report in reports.iter().copied() {
            let (shared, reader) = (Arc::clone(shared), Arc::clone(journal));
            if !blocking(move || Self::has(&shared, reader.as_ref(), report).map_err(journal_failure)).await? {
                let mark = Command::MarkRead { task: report.child, leg: report.leg };
                journal.send(mark).await.map_err(journal_failure)?;
            }
        }
        Ok(())
    }
}
