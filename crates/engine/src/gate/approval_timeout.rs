//! Approval timeout: none in the foreground, `answer_seconds` in the background, and never past the time the task needs
//! to wrap up.

use std::sync::Arc;
use std::time::Duration;

use sortie_protocol::TaskId;
use tokio::time::Instant;

use crate::budget::deadline::TimeToAsk;
use crate::messages::running_tasks::RunningTasks;

/// Interval of checks for a release into the background.
const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct ApprovalTimeout {
    pub(crate) present: Arc<RunningTasks>,
    /// Timeout of a background task.
    pub(crate) within: Duration,
}

/// The wait for one answer. It starts when the question is shown, so nothing is refused unseen.
pub(crate) struct ApprovalWait<'a> {
    patience: &'a ApprovalTimeout,
    task: TaskId,
    began: Instant,
    /// Start of the background timeout; `None` in the foreground.
    alone_since: Option<Instant>,
    /// Latest time at which the task needs the answer.
    time: &'a TimeToAsk,
}

impl ApprovalTimeout {
    /// Starts the wait for an answer.
    pub(crate) async fn begin<'a>(&'a self, task: TaskId, time: &'a TimeToAsk) -> ApprovalWait<'a> {
        let began = Instant::now();
        let alone_since = self.is_in_background(task).await.then_some(began);
        ApprovalWait { patience: self, task, began, alone_since, time }
    }

    /// Waits until the task is in the background.
    async fn is_let_go(&self, task: TaskId) {
        while !self.is_in_background(task).await {
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// Returns true if the task, or a task above it, is in the background.
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
    /// Returns the whole length of the wait as it stands now; `None` is without limit.
    pub(crate) fn within(&self) -> Option<Duration> {
        self.end().map(|end| end - self.began)
    }

    /// Waits until the timeout, and returns the reason. A task that is released meanwhile gets the whole background
    /// timeout from then on; `hear` receives its length.
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

    /// Returns the end of the background timeout; `None` in the foreground.
    fn of_background(&self) -> Option<Instant> {
        self.alone_since?.checked_add(self.patience.within)
    }

    fn why(&self) -> String {
        if self.time.ends_before(self.of_background()) {
            let within = seconds(self.within().unwrap_or_default());
            return format!(
                "nobody answered within {within}, and there is little time left; continue without it, and say so in your report"
            );
        }
        let within = seconds(self.patience.within);
        format!("nobody answered within {within}, the timeout of background tasks (`permissions.answer_seconds`)")
    }
}

/// Formats a waiting time with the precision that people saw: `3.7 s`, `75 s`.
pub(crate) fn seconds(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis() / 100) {
        (seconds @ 0..60, tenths @ 1..) => format!("{seconds}.{tenths} s"),
        (seconds, _) => format!("{seconds} s"),
    }
}
