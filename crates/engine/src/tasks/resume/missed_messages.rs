//! Messages that arrived while nobody ran the task. It gets them before its first turn, in their order.
//!
//! Commands stay in the journal as long as their task can be resumed. Later ones are delivered as they come.

use std::sync::Arc;

use sortie_journal::{CommandId, JournalError};
use sortie_protocol::Fact;
use tokio::runtime::Handle;

use crate::tasks::task::Task;

/// Delivers the missed messages of a resumed task. If commands cannot be read, the task continues with a notice.
pub(crate) async fn catch_up(task: &Task, last_command: i64) -> Result<(), JournalError> {
    let Some(running_task) = task.engine.present.find(task.job.task) else { return Ok(()) };
    let (present, journal) = (Arc::clone(&task.engine.present), Arc::clone(&task.engine.journal));
    let runtime = Handle::current();
    let deliver = move || present.catch_up(&running_task, journal.as_ref(), CommandId(last_command), &runtime);
    // A broken delivery is no reason to end the task.
    let unread = match tokio::task::spawn_blocking(deliver).await {
        Ok(delivered) => delivered?,
        Err(broken) => Some(broken.to_string()),
    };
    if let Some(why) = unread {
        let text = format!("messages that arrived while this task was not running could not be read: {why}");
        task.sink.append(Fact::Noticed { text }).await?;
    }
    Ok(())
}
