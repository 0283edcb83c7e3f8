//! How long a question of a task waits for a person: as long as it takes where somebody waits for the task, a bounded time
//! where it works in the background.

use std::sync::Arc;
use std::time::Duration;

use sortie_protocol::TaskId;

use crate::stopping::Present;

/// How often it is looked whether a task that asks has been let go into the background meanwhile.
const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Patience {
    pub(crate) present: Arc<Present>,
    /// Of a task in the background.
    pub(crate) within: Duration,
}

impl Patience {
    /// Waits until the task has waited long enough; for ever, as long as somebody waits for it.
    pub(crate) async fn is_over(&self, task: TaskId) {
        tokio::time::sleep(self.within).await;
        while !self.is_in_background(task).await {
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// How long a question that the task puts now is waited for; `None` is as long as it takes.
    pub(crate) async fn granted(&self, task: TaskId) -> Option<Duration> {
        self.is_in_background(task).await.then_some(self.within)
    }

    /// Whether the task, or one above it, goes on by itself.
    async fn is_in_background(&self, task: TaskId) -> bool {
        let mut next = Some(task);
        while let Some(resident) = next.and_then(|task| self.present.find(task)) {
            let Some(address) = &resident.address else { return false };
            if !address.hold().await.waits {
                return true;
            }
            next = resident.job.parent;
        }
        false
    }
}
