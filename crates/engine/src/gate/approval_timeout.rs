//! How long a question whether a call may run waits for a person: as long as it takes where somebody waits for the
//! task, a bounded time where it works in the background; and never so long that the task has no time left to go on
//! without.

use std::sync::Arc;
use std::time::Duration;

use sortie_protocol::TaskId;
use tokio::time::Instant;

use crate::budget::deadline::TimeToAsk;
use crate::messages::running_tasks::RunningTasks;

/// How often it is looked whether a task that asks has been let go into the background meanwhile.
const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct ApprovalTimeout {
    pub(crate) present: Arc<RunningTasks>,
    /// Of a task in the background.
    pub(crate) within: Duration,
}

/// The wait for the answer to one question, from when it is shown: nothing is refused that nobody could see.
pub(crate) struct ApprovalWait<'a> {
    patience: &'a ApprovalTimeout,
    task: TaskId,
    began: Instant,
    /// Since when the task is on its own; `None` while somebody waits for it.
    alone_since: Option<Instant>,
    /// Behind which the task must go on without an answer.
    time: &'a TimeToAsk,
}

impl ApprovalTimeout {
    /// Begins to wait for the answer to a question of the task.
    pub(crate) async fn begin<'a>(&'a self, task: TaskId, time: &'a TimeToAsk) -> ApprovalWait<'a> {
        let began = Instant::now();
        let alone_since = self.is_in_background(task).await.then_some(began);
        ApprovalWait { patience: self, task, began, alone_since, time }
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
        while let Some(running_task) = next.and_then(|task| self.present.find(task)) {
            let Some(address) = &running_task.address else { return false };
            if !address.hold().await.waits {
                return true;
            }
            next = running_task.job.parent;
        }
        false
    }
}

impl ApprovalWait<'_> {
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
                () = self.time.passes(None) => return self.why(),
                () = self.patience.is_let_go(self.task) => {}
            }
            let now = Instant::now();
            self.alone_since = Some(now);
            if let Some(end) = self.end() {
                hear(end - now);
            }
        }
        self.time.passes(self.of_background()).await;
        self.why()
    }

    fn end(&self) -> Option<Instant> {
        self.time.end(self.of_background())
    }

    /// When a task in the background has waited long enough; `None` while it is in the foreground.
    fn of_background(&self) -> Option<Instant> {
        self.alone_since?.checked_add(self.patience.within)
    }

    fn why(&self) -> String {
        if self.time.ends_before(self.of_background()) {
            let within = seconds(self.within().unwrap_or_default());
            return format!(
                "nobody answered within {within}, and there is little time left; go on without it, and say so in your report"
            );
        }
        let within = seconds(self.patience.within);
        format!(
            "nobody answered within {within}, and a task in the background waits no longer (`permissions.answer_seconds`)"
        )
    }
}

/// How long a question has waited, as exactly as whoever saw it was told: `3.7 s`, `75 s`.
pub(crate) fn seconds(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis() / 100) {
        (seconds @ 0..60, tenths @ 1..) => format!("{seconds}.{tenths} s"),
        (seconds, _) => format!("{seconds} s"),
    }
}
