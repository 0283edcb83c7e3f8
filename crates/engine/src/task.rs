//! The life of one task: admitted, run, ended; whatever happens inside, it ends once and the ending is recorded.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use sortie_journal::JournalError;
use sortie_policy::Judge;
use sortie_protocol::{CallId, Fact, Failure, Job, Limit, TaskOutcome};
use sortie_tools::{Seen, Shells};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::approval::Approvals;
use crate::assistant::LightModel;
use crate::clearance::Clearance;
use crate::delegate::Delegate;
use crate::end::{Ending, Tally};
use crate::engine::{EngineError, Inner};
use crate::gate::{Gate, message};
use crate::history::History;
use crate::limits::Allowance;
use crate::report;
use crate::roster::Roster;
use crate::run::{Run, Services};
use crate::sink::Sink;
use crate::slot::Slot;
use crate::subagents::Asked;
use crate::turn::{Speaker, until};
use crate::walls::TaskReach;
use crate::wording::Wording;

/// A task that is about to run.
pub(crate) struct Task {
    pub(crate) engine: Arc<Inner>,
    /// As it was when the task started: what its model is offered does not change under it.
    pub(crate) roster: Arc<Roster>,
    /// In the words of the one who asked.
    pub(crate) asked: Asked,
    pub(crate) job: Arc<Job>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) slot: Arc<Slot>,
    /// Of the whole tree.
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) parent: Option<Parent>,
}

/// The one whose call this task answers.
pub(crate) struct Parent {
    pub(crate) sink: Sink,
    pub(crate) call: CallId,
    pub(crate) deadline: Option<Instant>,
}

impl Task {
    /// Records that it exists and sets it going on its own: it runs to its recorded end even if nobody waits any more.
    pub(crate) async fn start(self) -> Result<JoinHandle<Result<TaskOutcome, EngineError>>, JournalError> {
        self.engine.audience.announce(self.job.task, &self.asked);
        self.sink.begin(self.parents_call()).await?;
        Ok(tokio::spawn(self.execute()))
    }

    /// Runs it to its recorded end. A panic ends this task as failed, and no other.
    async fn execute(self) -> Result<TaskOutcome, EngineError> {
        let running = AssertUnwindSafe(self.admit_and_run()).catch_unwind();
        let mut outcome = match running.await {
            Ok(outcome) => outcome?,
            Err(panic) => {
                let said = message(panic.as_ref());
                let failure = Failure::new("internal", format!("the task broke down: {said}; this is a bug in Sortie"));
                self.tally().outcome(&self.job, Ending::Failed { failure, text: String::new() })
            }
        };
        report::cap(&mut outcome, &self.job, &self.engine.reports).await;
        self.sink.end(outcome.clone(), self.parents_call()).await?;
        Ok(outcome)
    }

    async fn admit_and_run(&self) -> Result<TaskOutcome, JournalError> {
        let deadline = self.parent.as_ref().and_then(|parent| parent.deadline);
        let not_admitted = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Some(Ending::Cancelled { text: String::new() }),
            () = until(deadline) => Some(Ending::limited(Limit::Deadline, String::new())),
            () = self.slot.take() => None,
        };
        let tally = self.tally();
        if let Some(ending) = not_admitted {
            return Ok(tally.outcome(&self.job, ending));
        }
        self.sink.append(Fact::TaskAdmitted).await?;
        for text in &self.job.notices {
            self.sink.append(Fact::Noticed { text: text.clone() }).await?;
        }
        let services = match self.services(deadline) {
            Ok(services) => services,
            Err(failure) => return Ok(tally.outcome(&self.job, Ending::Failed { failure, text: String::new() })),
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
    fn services(&self, parents_deadline: Option<Instant>) -> Result<Services, Failure> {
        let config = &self.job.config;
        let allowance = Allowance::start(config.limits, parents_deadline);
        // A grant that cannot be read grants nothing.
        let judge = Judge::new(&config.grant, self.engine.places.clone());
        let judge = Arc::new(judge.map_err(|error| Failure::new("grant", error.to_string()))?);
        let delegate = Delegate {
            engine: Arc::clone(&self.engine),
            parent: Arc::clone(&self.job),
            judge: Arc::clone(&judge),
            approvals: Arc::clone(&self.approvals),
            account: Arc::clone(&self.account),
            sink: self.sink.clone(),
            cancel: self.cancel.clone(),
            deadline: allowance.deadline,
        };
        let speaker = Speaker {
            model: self
                .engine
                .models
                .open(&config.model)
                .map_err(|error| Failure::new(error.kind.code(), error.message))?,
            tools: self.roster.offer(&config.tools),
            deadline: allowance.deadline,
            account: Arc::clone(&self.account),
            redactor: Arc::clone(&self.engine.permissions.redactor),
        };
        let wording = Wording {
            contract: Arc::clone(&self.engine.contract),
            cwd: self.engine.rules.cwd.clone(),
            spill: Arc::clone(&self.engine.reports),
        };
        let shells = self.shells(&judge);
        let clearance = Clearance {
            judge,
            approvals: Arc::clone(&self.approvals),
            approver: Arc::clone(&self.engine.permissions.approver),
            desk: Arc::clone(&self.engine.desk),
            places: self.engine.places.clone(),
            job: Arc::clone(&self.job),
            deadline: allowance.deadline,
        };
        let gate = Gate {
            tools: Arc::clone(&self.roster.tools),
            offered: config.tools.clone(),
            clearance,
            shells,
            assistant: LightModel {
                models: Arc::clone(&self.engine.models),
                account: Arc::clone(&self.account),
                sink: self.sink.clone(),
                deadline: allowance.deadline,
                notices: Mutex::default(),
            },
            redactor: Arc::clone(&self.engine.permissions.redactor),
            seen: Seen::without_secrets(Arc::clone(&self.engine.permissions.redactor)),
            workspace: Arc::clone(&self.engine.workspace),
            delegation: Arc::new(delegate),
            slot: Arc::clone(&self.slot),
            deadline: allowance.deadline,
            wording,
        };
        Ok(Services { speaker, gate, allowance })
    }

    /// The commands of this task, within what its grant leaves to them.
    fn shells(&self, judge: &Arc<Judge>) -> Option<Shells> {
        let setup = self.engine.shell.as_ref()?;
        let permissions = &self.engine.permissions;
        let reach = TaskReach::new(Arc::clone(judge), self.engine.places.clone(), permissions.private.clone());
        let (changes, redactor) = (Arc::clone(&self.engine.changes), Arc::clone(&permissions.redactor));
        Some(Shells::new(Arc::clone(setup), Arc::new(reach), changes, redactor))
    }

    fn tally(&self) -> Tally {
        Tally::new(&self.account, &self.job.notices)
    }

    fn parents_call(&self) -> Option<(&Sink, &CallId)> {
        self.parent.as_ref().map(|parent| (&parent.sink, &parent.call))
    }
}
