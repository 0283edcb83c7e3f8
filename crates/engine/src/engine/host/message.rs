//! A host's message to a task that another process runs: left in the journal, where that process looks for it.

use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{Journal, TaskState};
use sortie_protocol::{Command, Event, Fact, Failure, FailureCode, Sender, TaskId};
use tokio::time::Instant;

use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;

/// Polling interval for the arrival.
const PERIOD: Duration = Duration::from_millis(100);
/// Time for a message to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fate of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    Arrived,
    /// The task ended before it could read the message, and will not read it.
    Missed,
}

/// Leaves a message for a task, and waits until the task has it.
pub(super) async fn leave(journal: &Arc<dyn Journal>, task: TaskId, text: String) -> Result<Arrival, Failure> {
    let sent = Command::Send { task, from: Sender::Host, text };
    let number = journal.send(sent).await.map_err(journal_failure)?;
    let deadline = Instant::now() + PATIENCE;
    let mut is_withdrawn = false;
    loop {
        let reader = Arc::clone(journal);
        // The state first: what a task has read by its end is in its log by then.
        let look = move || {
            let state = reader.standing(task).map_err(journal_failure)?.state;
            let mut has_arrived = false;
            let mut see = |event: Event| {
                has_arrived |= matches!(event.fact, Fact::MessageArrived { command: Some(by), .. } if by == number.0);
            };
            reader.read_each(task, 1, &mut see).map_err(journal_failure)?;
            Ok((state, has_arrived))
        };
        match blocking(look).await? {
            (_, true) => return Ok(Arrival::Arrived),
            (TaskState::Ended(_), false) if is_withdrawn => return Ok(Arrival::Missed),
            (TaskState::Ended(_), false) => {
                // Whoever resumes the task must not give it a message that its sender will repeat.
                journal.send(Command::Withdraw { task, command: number.0 }).await.map_err(journal_failure)?;
                is_withdrawn = true;
            }
            (TaskState::Running | TaskState::Interrupted, false) if Instant::now() >= deadline => {
                let seconds = PATIENCE.as_secs();
                let message = format!(
                    "the message was left for {task}, whose process has not read it within {seconds} s; the task reads \
                     it when its process responds, or when it resumes"
                );
                return Err(Failure::new(FailureCode::StillRunning, message));
            }
            (TaskState::Running | TaskState::Interrupted, false) => tokio::time::sleep(PERIOD).await,
        }
    }
}
