//! Commands to the process that runs a task, left in the journal. Their effect is read from the task's log.

use std::time::{Duration, Instant};

use sortie_journal::{CommandId, Journal, JournalError, SqliteJournal, TaskState};
use sortie_protocol::{Command, Event, Fact, TaskId};

use crate::error::CommandError;
use crate::settings::Settings;

/// Time for a running task to take a command.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Interval of polling for it.
const PERIOD: Duration = Duration::from_millis(20);

/// Position in a task's log; the answer comes after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bookmark {
    pub(super) task: TaskId,
    from: u64,
}

/// Fate of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The log shows its effect.
    Done,
    /// The log does not show it; this is the task's state.
    Open(TaskState),
}

impl Bookmark {
    /// Current end of the log.
    pub(super) fn at_the_end(journal: &dyn Journal, task: TaskId) -> Result<Self, JournalError> {
        Ok(Self { task, from: journal.standing(task)?.last_seq + 1 })
    }

    /// Waits until the log shows the effect, the task stops running, or the time is up.
    pub(super) fn wait(self, journal: &dyn Journal, tells: impl Fn(&Fact) -> bool) -> Result<Fate, JournalError> {
        let since = Instant::now();
        loop {
            // Checked before reading, so that everything written before the end is read.
            let state = journal.standing(self.task)?.state;
            if self.is_told(journal, &tells)? {
                return Ok(Fate::Done);
            }
            if state != TaskState::Running || since.elapsed() > PATIENCE {
                return Ok(Fate::Open(state));
            }
            std::thread::sleep(PERIOD);
        }
    }

    fn is_told(self, journal: &dyn Journal, tells: impl Fn(&Fact) -> bool) -> Result<bool, JournalError> {
        let mut told = false;
        journal.read_each(self.task, self.from, &mut |event: Event| told |= tells(&event.fact))?;
        Ok(told)
    }
}

/// Leaves a command, which is on disk when this returns.
pub(super) fn leave(settings: &Settings, command: Command) -> Result<CommandId, CommandError> {
    let journal = SqliteJournal::open(&settings.places.journal())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    Ok(runtime.block_on(journal.send(command))?)
}
