//! Commands to the process that runs a task, left in the journal. Their effect is read from the log of the task.

use std::time::{Duration, Instant};

use sortie_journal::{CommandId, Journal, JournalError, SqliteJournal, TaskState};
use sortie_protocol::{Command, Event, Fact, TaskId};

use crate::error::CommandError;
use crate::settings::Settings;

/// How long a running task has to take a wish.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether it has.
const PERIOD: Duration = Duration::from_millis(20);

/// A place in a task's log, behind which the answer will stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bookmark {
    pub(super) task: TaskId,
    from: u64,
}

/// What came of a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The log tells of it.
    Done,
    /// The log does not, and this is where its task stands now.
    Open(TaskState),
}

impl Bookmark {
    /// The end of the log as it is now.
    pub(super) fn at_the_end(journal: &dyn Journal, task: TaskId) -> Result<Self, JournalError> {
        Ok(Self { task, from: journal.standing(task)?.last_seq + 1 })
    }

    /// Waits until the log tells of it, its task does not run any more, or the time for it is over.
    pub(super) fn wait(self, journal: &dyn Journal, tells: impl Fn(&Fact) -> bool) -> Result<Fate, JournalError> {
        let since = Instant::now();
        loop {
            // Asked before reading: what was written before it ended is then sure to be read.
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

/// Leaves a wish. It is on disk when this returns.
pub(super) fn leave(settings: &Settings, command: Command) -> Result<CommandId, CommandError> {
    let journal = SqliteJournal::open(&settings.places.journal())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    Ok(runtime.block_on(journal.send(command))?)
}
