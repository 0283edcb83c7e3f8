//! A started task, as its starter holds it.

use std::sync::Arc;

use sortie_journal::JournalError;
use sortie_protocol::{Job, TaskId, TaskOutcome};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::tasks::result_cache::lookup::keep;
use crate::tasks::start::admission::{Admission, Admitted};
use crate::tasks::state::EngineError;

/// A started task without a parent, or a reused outcome. Dropping it stops the task.
pub struct Running {
    /// The task of the outcome.
    pub task: TaskId,
    job: Arc<Job>,
    cancel: CancellationToken,
    finished: JoinHandle<Result<TaskOutcome, EngineError>>,
}

impl Running {
    /// Starts an admitted task, unless an earlier outcome stands in for it.
    pub(crate) async fn start(admission: Admission) -> Result<Self, JournalError> {
        match admission {
            Admission::GivenAgain { job, outcome } => Ok(Self::given_again(job, *outcome)),
            Admission::Start(admitted) => Self::begin(*admitted).await,
        }
    }

    /// Starts a task. With a ticket, the cache gets its outcome before anybody else.
    async fn begin(Admitted { task, ticket, .. }: Admitted) -> Result<Self, JournalError> {
        let (job, cancel) = (Arc::clone(&task.job), task.cancel.clone());
        let (engine, approvals) = (Arc::clone(&task.engine), Arc::clone(&task.approvals));
        let ended = task.start().await?;
        let finished = tokio::spawn(async move {
            let ended = ended.await.unwrap_or(Err(EngineError::Aborted));
            keep(&engine, ticket, &approvals).await;
            ended
        });
        Ok(Self { task: job.task, job, cancel, finished })
    }

    /// Stands for a task that is not started, because another one has done the same.
    fn given_again(job: Arc<Job>, outcome: TaskOutcome) -> Self {
        let (task, cancel) = (outcome.task_id, CancellationToken::new());
        Self { task, job, cancel, finished: tokio::spawn(std::future::ready(Ok(outcome))) }
    }

    /// Stops the task and all its descendants; its outcome tells how it ended. Harmless when repeated or late.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// Returns the job with all decisions about the task.
    pub fn job(&self) -> Arc<Job> {
        Arc::clone(&self.job)
    }

    /// Returns a handle that stops the task from elsewhere, e.g. from a signal.
    pub fn stopper(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Waits for the end, which is on disk when this returns.
    pub async fn outcome(mut self) -> Result<TaskOutcome, EngineError> {
        (&mut self.finished).await.unwrap_or(Err(EngineError::Aborted))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
