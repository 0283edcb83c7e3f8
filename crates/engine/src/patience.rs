//! How long a question whether a call may run waits for a person: as long as it takes where somebody waits for the task, a
//! bounded time where it works in the background; and never so long that the task has no time left to go on without.

use std::sync::Arc;
use std::time::Duration;

use sortie_protocol::TaskId;
use tokio::time::Instant;

use crate::deadline::Deadline;
use crate::stopping::Present;
use crate::turn::until;

/// How often it is looked whether a task that asks has been let go into the background meanwhile.
const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Patience {
    pub(crate) present: Arc<Present>,
    /// Of a task in the background.
    pub(crate) within: Duration,
    /// Of the task that asks.
    pub(crate) deadline: Arc<Deadline>,
}

/// The wait for the answer to one question, from when it is shown: nothing is refused that nobody could see.
pub(crate) struct Wait<'a> {
    patience: &'a Patience,
    task: TaskId,
    began: Instant,
    /// Since when the task is on its own; `None` while somebody waits for it.
    alone_since: Option<Instant>,
    /// When it must go on without an answer, to have time for that.
    latest: Option<Instant>,
}

impl Patience {
    /// Begins to wait for the answer to a question of the task.
    pub(crate) async fn begin(&self, task: TaskId) -> Wait<'_> {
        let began = Instant::now();
        let alone_since = self.is_in_background(task).await.then_some(began);
        Wait { patience: self, task, began, alone_since, latest: self.deadline.latest_to_ask() }
    }

    /// Waits until nobody waits for the task any more.
    async fn is_let_go(&self, task: TaskId) {
        while !self.is_in_background(task).await {
            tokio::time::sleep(PERIOD).await;
        }
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

impl Wait<'_> {
    /// How long it takes from its beginning, as it stands now; `None` is as long as it takes.
    pub(crate) fn within(&self) -> Option<Duration> {
        self.end().map(|end| end - self.began)
    }

    /// Waits until it has been long enough, and says why it is no longer. A task that is let go meanwhile has the whole
    /// patience of one in the background from then on, and `hear` is told how long that is.
    pub(crate) async fn runs_out(mut self, hear: impl FnOnce(Duration)) -> String {
        if self.alone_since.is_none() {
            tokio::select! {
                biased;
                () = until(self.latest) => return self.why(),
                () = self.patience.is_let_go(self.task) => {}
            }
            let now = Instant::now();
            self.alone_since = Some(now);
            if let Some(end) = self.end() {
                hear(end - now);
            }
        }
        until(self.end()).await;
        self.why()
    }

    fn end(&self) -> Option<Instant> {
        self.of_background().into_iter().chain(self.latest).min()
    }

    /// When a task in the background has waited long enough; `None` while it is in the foreground.
    fn of_background(&self) -> Option<Instant> {
        self.alone_since?.checked_add(self.patience.within)
    }

    fn why(&self) -> String {
        match self.latest.filter(|latest| self.of_background().is_none_or(|end| *latest < end)) {
            Some(latest) => format!(
                "nobody answered within {} s, and there is little time left; go on without it, and say so in your report",
                (latest - self.began).as_secs()
            ),
            None => format!(
                "nobody answered within {} s, and a task in the background waits no longer (`permissions.answer_seconds`)",
                self.patience.within.as_secs()
            ),
        }
    }
}
