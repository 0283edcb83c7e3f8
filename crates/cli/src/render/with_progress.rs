//! Result on stdout in any format, with progress on stderr.

use std::io;

use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, TaskId, TaskOutcome};

use super::Display;
use super::stderr_progress::StderrProgress;
use super::text_display::say_how_to_go_on;
use crate::error;

/// Result display with progress.
pub(crate) struct WithProgress {
    progress: StderrProgress,
    result: Box<dyn Display>,
    /// True if the journal has any of the run, so that it can be resumed.
    is_recorded: bool,
}

impl WithProgress {
    pub(crate) fn new(progress: StderrProgress, result: Box<dyn Display>) -> Self {
        Self { progress, result, is_recorded: false }
    }
}

impl Display for WithProgress {
    fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        self.is_recorded = true;
        self.progress.recall(journal, task)?;
        self.result.recall(journal, task)
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.is_recorded = true;
        self.progress.show(event)?;
        self.result.show(event)
    }

    fn refresh(&mut self) -> io::Result<()> {
        self.progress.refresh();
        self.result.refresh()
    }

    fn finish(mut self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.progress.clear();
        self.result.finish(outcome)?;
        if self.progress.is_text() {
            if self.is_recorded {
                say_how_to_go_on(outcome);
            } else {
                // No event reported these notices: the result was cached, or could not be recorded.
                outcome.notices.iter().for_each(|notice| error::notice(notice));
            }
        }
        self.progress.finish(outcome)
    }
}
