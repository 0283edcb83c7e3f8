//! Ending a task that nobody runs any more: it gets the ending that its process could not write, and so do its children.

use std::sync::Arc;

use sortie_journal::TaskState;
use sortie_protocol::{Failure, Limits, TaskId, TaskOutcome};

use crate::end::{Ending, Tally};
use crate::engine::{Engine, Inner};
use crate::resume::{Remembered, end_left_over, hold, journal_failure, remember};

impl Engine {
    /// Ends an interrupted task as cancelled, and all below it that were interrupted with it, children first. What they
    /// had written and changed is kept. Tasks that have ended are left as they are.
    pub async fn abandon(&self, task: TaskId) -> Result<Vec<TaskOutcome>, Failure> {
        let mut outcomes = Vec::new();
        let mut ahead = self.interrupted(task).await?;
        // Parents start before their children, and end after them.
        while let Some(task) = ahead.pop() {
            let journal = Arc::clone(&self.inner.journal);
            let remembered = blocking(move || remember(journal.as_ref(), task)).await?;
            outcomes.push(self.inner.cancelled(remembered).await?);
        }
        Ok(outcomes)
    }

    async fn interrupted(&self, task: TaskId) -> Result<Vec<TaskId>, Failure> {
        let journal = Arc::clone(&self.inner.journal);
        let tree = blocking(move || journal.tree(task).map_err(journal_failure)).await?;
        let interrupted = tree.iter().filter(|header| header.state == TaskState::Interrupted);
        Ok(interrupted.map(|header| header.task_id).collect())
    }
}

impl Inner {
    async fn cancelled(self: &Arc<Self>, remembered: Remembered) -> Result<TaskOutcome, Failure> {
        let account = remembered.account(Limits::default(), None);
        let Remembered { mut past, standing, .. } = remembered;
        let left = end_left_over(std::mem::take(&mut past.keepers)).await;
        let tally = Tally::resumed(&account, &past.deeds, &left);
        let job = Arc::new(past.job);
        let outcome = tally.outcome(&job, Ending::Cancelled { text: past.history.last_text() });
        let sink = self.sink(&job, hold(&standing)?);
        sink.end(outcome.clone(), None, &[]).await.map_err(journal_failure)?;
        Ok(outcome)
    }
}

/// Reads away from the threads that run tasks.
pub(crate) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|error| Failure::new("internal", error.to_string()))?
}
