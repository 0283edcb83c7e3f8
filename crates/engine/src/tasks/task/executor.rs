//! The executor of started tasks. There is one: the runtime of this process. Another one would take over here.

use sortie_journal::JournalError;
use sortie_protocol::TaskOutcome;
use tokio::task::JoinHandle;

use crate::messages::running_tasks::Registration;
use crate::tasks::state::EngineError;
use crate::tasks::task::Task;

/// Spawns a started task, which runs to its recorded end even if nobody waits any more. Only an interruption stops it
/// where it is.
pub(super) fn execute_here(task: Task, registration: Registration) -> JoinHandle<Result<TaskOutcome, EngineError>> {
    tokio::spawn(async move {
        let ended = tokio::select! {
            biased;
            () = registration.interrupted() => Err(JournalError::Interrupted.into()),
            ended = task.execute() => ended,
        };
        let ended = match ended {
            Err(EngineError::Journal(JournalError::Interrupted)) => Ok(task.interrupted()),
            ended => ended,
        };
        drop((task, registration));
        ended
    })
}
