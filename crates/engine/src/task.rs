//! The life of one task: admitted, run, ended; whatever happens inside, it ends once and the ending is recorded.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use sortie_journal::JournalError;
use sortie_protocol::{Fact, Failure, Job, TaskOutcome, Usage};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::brood::Brood;
use crate::delegate::Delegate;
use crate::end::{Ending, Tally};
use crate::engine::{EngineError, Inner};
use crate::gate::{Gate, message};
use crate::history::History;
use crate::limits::Allowance;
use crate::report;
use crate::run::{Run, Services};
use crate::sink::Sink;
use crate::slot::Slot;
use crate::turn::Speaker;

/// A task that exists in the journal and is about to run.
pub(crate) struct Task {
    pub(crate) engine: Arc<Inner>,
    pub(crate) brood: Arc<Brood>,
    pub(crate) job: Arc<Job>,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) slot: Arc<Slot>,
    pub(crate) parents_deadline: Option<Instant>,
    /// Notices from before it started, e.g. ignored keys of its request.
    pub(crate) notices: Vec<String>,
    pub(crate) report_cap: Option<usize>,
}

impl Task {
    /// Sets the task going on its own: it runs to its recorded end even if nobody waits for it any more.
    pub(crate) fn spawn(self) -> JoinHandle<Result<TaskOutcome, EngineError>> {
        tokio::spawn(self.execute())
    }

    /// Runs it to its recorded end. A panic ends this task as failed, and no other.
    async fn execute(self) -> Result<TaskOutcome, EngineError> {
        let children = Arc::new(Mutex::new(Usage::default()));
        let running = AssertUnwindSafe(self.admit_and_run(&children)).catch_unwind();
        let mut outcome = match running.await {
            Ok(outcome) => outcome?,
            Err(panic) => self.broken(message(panic.as_ref()), &children),
        };
        if let Some(cap) = self.report_cap {
            report::cap(&mut outcome, cap, &self.engine.reports).await;
        }
        self.sink.append_synced(Fact::TaskEnded { outcome: Box::new(outcome.clone()) }).await?;
        Ok(outcome)
    }

    fn broken(&self, said: &str, children: &Arc<Mutex<Usage>>) -> TaskOutcome {
        let failure = Failure::new("internal", format!("the task broke down: {said}; this is a bug in Sortie"));
        let mut tally = Tally::new(Arc::clone(children), self.notices.clone());
        tally.notice("its own spending before the breakdown is in its events, not in these figures");
        tally.outcome(&self.job, Ending::Failed { failure, text: String::new() })
    }

    async fn admit_and_run(&self, children: &Arc<Mutex<Usage>>) -> Result<TaskOutcome, JournalError> {
        let tally = Tally::new(Arc::clone(children), self.notices.clone());
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                return Ok(tally.outcome(&self.job, Ending::Cancelled { text: String::new() }));
            }
            () = self.slot.take() => self.sink.append(Fact::TaskAdmitted).await?,
        }
        for text in &self.notices {
            self.sink.append(Fact::Noticed { text: text.clone() }).await?;
        }
        let services = match self.services(children) {
            Ok(services) => services,
            Err(error) => return Ok(tally.outcome(&self.job, Ending::model_failed(error, String::new()))),
        };
        let run = Run {
            job: &self.job,
            history: History::begin(&self.job),
            tally,
            services: &services,
            sink: &self.sink,
            cancel: &self.cancel,
        };
        run.finish().await
    }

    /// Puts together what the loop works with. From here on nothing asks what was said, only what is meant.
    fn services(&self, children: &Arc<Mutex<Usage>>) -> Result<Services, sortie_llm::ModelError> {
        let config = &self.job.config;
        let allowance = Allowance::start(config.limits, self.parents_deadline);
        let delegate = Delegate {
            engine: Arc::clone(&self.engine),
            brood: Arc::clone(&self.brood),
            parent: Arc::clone(&self.job),
            sink: self.sink.clone(),
            cancel: self.cancel.clone(),
            deadline: allowance.deadline,
            spent: Arc::clone(children),
        };
        let speaker = Speaker {
            model: self.engine.models.open(&config.model)?,
            tools: self.engine.offer(&config.tools),
            deadline: allowance.deadline,
        };
        let gate = Gate {
            tools: Arc::clone(&self.engine.tools),
            offered: config.tools.clone(),
            grant: config.grant.clone(),
            workspace: Arc::clone(&self.engine.workspace),
            delegation: Arc::new(delegate),
            slot: Arc::clone(&self.slot),
            deadline: allowance.deadline,
        };
        Ok(Services { speaker, gate, allowance })
    }
}

/// Adds a child's spending to what its parent's subtree has spent.
pub(crate) fn add_spending(spent: &Mutex<Usage>, usage: Usage) {
    *spent.lock().unwrap_or_else(PoisonError::into_inner) += usage;
}
