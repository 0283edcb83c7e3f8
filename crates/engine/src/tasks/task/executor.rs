//! The executor of started tasks. There is one: the runtime of this process. Another one would take over here.

use sortie_protocol::TaskOutcome;
use tokio::task::JoinHandle;

use crate::messages::running_tasks::Registration;
use crate::tasks::state::EngineError;
use crate::tasks::task::Task;

/// Spawns a started task, which runs to its recorded end even if nobody waits any more.
pub(super) fn execute_here(task: Task, registration: Registration) -> JoinHandle<Result<TaskOutcome, EngineError>> {
    tokio::spawn(async move {
        let ended = task.execute().await;
        drop(registration);
        ended
    })
}
