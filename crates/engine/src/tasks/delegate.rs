//! Delegation: a parent's call becomes a child task. It runs in the same loop, with a clean context and a narrower
//! grant.

use std::sync::Arc;

use sortie_protocol::{CallId, Fact, Failure, FailureCode, Job, Launched, Resource, TaskId, TaskOutcome, TaskRequest};
use sortie_tools::{AnswerParts, BoxFuture, Delegated, Delegation};

use crate::conversation::load_task::read;
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::conversation::task_record::Attached;
use crate::gate::call_order::CallOrder;
use crate::messages::report_cap::{self, ReportRoom};
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::resolve::choose_agent::{StandIn, own_agent, serving};
use crate::resolve::settings::TaskKind;
use crate::tasks::result_cache::lookup::{keep, whence};
use crate::tasks::resume::follow_up::agent_of;
use crate::tasks::resume::reattach::{Found, HeldRetry, again};
use crate::tasks::scope::{LaunchMode, TaskScope};
use crate::tasks::start::admission::{Admission, Admitted, admit};
use crate::tasks::start::check::AgentChoice;
use crate::tasks::start::origin::Origin;
use crate::tasks::start::prepare;
use crate::tasks::state::EngineError;
use crate::tasks::task::launched;

/// One task's way to start children.
pub(crate) struct Delegate {
    pub(crate) scope: Arc<TaskScope>,
    /// Room for reports in the task's conversation.
    pub(crate) room: Arc<ReportRoom>,
    /// Order of messages and admissions from the calls of its newest turn.
    pub(crate) words: Arc<CallOrder>,
}

impl Delegation for Delegate {
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        Box::pin(async move {
            let engine = &self.scope.engine;
            let mut delegated = Box::pin(self.answer(call, request)).await?;
            if let Delegated::Ended(outcome) = &mut delegated {
                report_cap::fit(outcome, &self.room, engine.contract.as_ref(), &engine.reports).await;
            }
            Ok(delegated)
        })
    }

    fn is_switched_on(&self) -> Result<(), Failure> {
        self.scope.engine.rules.check_switched_on()
    }

    fn agent_for(&self, request: &TaskRequest) -> Resource {
        let engine = &self.scope.engine;
        if let Some(asked) = &request.resume {
            return agent_of(engine, asked);
        }
        let roster = engine.rosters.current();
        let stand_in = StandIn::of(&engine.contract.defaults());
        // A template may name the agent. A template that does not fit is refused before anybody is asked.
        let most_bytes = engine.rules.max_prompt_bytes;
        let Ok(request) = roster.templates().applied(request.clone(), most_bytes) else {
            return Resource::Nothing;
        };
        if let Some(own) = own_agent(&roster.agents, &request, Some(&self.scope.job.config)) {
            return own.as_resource();
        }
        let serving = serving(&roster.agents, &request, TaskKind::Delegated, stand_in);
        serving.map_or(Resource::Nothing, |serving| serving.definition.as_resource())
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        let engine = &self.scope.engine;
        AnswerParts { cwd: &engine.rules.cwd, spare_id: engine.ids.task(), mark: engine.ids.mark() }
    }
}

impl Delegate {
    /// Answers a call with a child that has ended, or that runs in the background.
    async fn answer(&self, call: &CallId, request: TaskRequest) -> Result<Delegated, Failure> {
        let mode = LaunchMode::of(&request);
        match self.scope.attached.get(call) {
            // It has been running in the background since the task resumed.
            Some(attached) if attached.is_released => return self.launched_before(attached.child).await,
            Some(attached) => return self.answer_again(call, *attached, mode).await,
            None => {}
        }
        let (address, order) = (self.scope.address(call, mode), self.words.admission(call));
        if let Some(order) = &order {
            order.counted.is_due().await;
        }
        let origin = Origin::Child { parent: &self.scope, address, order };
        let task = prepare(&self.scope.engine, &origin, AgentChoice::Named, request).await?;
        match admit(task, &origin, mode).await? {
            Admission::Start(admitted) => self.start(call, admitted, mode).await,
            Admission::GivenAgain { job, outcome } => {
                self.record_given(call, &job, &outcome).await;
                Ok(Delegated::Ended(outcome))
            }
        }
    }

    /// Answers with a child that was started before a crash.
    async fn answer_again(&self, call: &CallId, attached: Attached, mode: LaunchMode) -> Result<Delegated, Failure> {
        let persistence = HeldRetry::new();
        loop {
            let admitted = match again(&self.scope, call, attached, mode).await {
                Found::Ended(outcome) | Found::OutOfReach(outcome) => return Ok(Delegated::Ended(outcome)),
                Found::Open(admitted) => admitted,
            };
            match self.start(call, admitted, mode).await {
                Err(held) if persistence.tries_again_after(&held).await => {}
                answered => return answered,
            }
        }
    }

    /// Starts a child in this mode. A failure means that it was not started.
    async fn start(&self, call: &CallId, admitted: Box<Admitted>, mode: LaunchMode) -> Result<Delegated, Failure> {
        if let Some(order) = self.words.admission(call) {
            // A child that was started before a crash has counted before.
            order.counted.is_done();
            order.started.is_due().await;
        }
        match mode {
            LaunchMode::Foreground => Box::pin(self.wait(call, *admitted)).await,
            LaunchMode::Background => Box::pin(launch(*admitted)).await.map(Delegated::Launched),
        }
    }

    /// Starts a child and waits until it ends or is released.
    async fn wait(&self, call: &CallId, Admitted { task, ticket, .. }: Admitted) -> Result<Delegated, Failure> {
        // If this future is dropped, the child is told to end, and does so by itself.
        let child_ends_with_us = task.cancel.clone().drop_guard();
        let (job, account, record) = (Arc::clone(&task.job), Arc::clone(&task.account), Arc::clone(&task.record));
        let (sink, address) = (task.sink.clone(), task.address.clone());
        let started = task.start().await.map_err(journal_failure)?;
        self.words.are_said(call);
        if let Some(order) = self.words.admission(call) {
            order.started.is_done();
        }
        let released = async {
            match &address {
                Some(address) => address.released().await,
                None => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            biased;
            // First: after a release the report goes into the inbox, even if the child has ended by now.
            () = released => None,
            ended = started => Some(ended.unwrap_or(Err(EngineError::Aborted))),
        };
        // The rest of the child's tree no longer belongs to this call.
        drop(child_ends_with_us.disarm());
        let Some(ended) = ended else {
            return Ok(Delegated::Launched(Box::new(launched(&job, sink.output_path()))));
        };
        let outcome = ended.unwrap_or_else(|error| {
            // It ran, but its ending could not be recorded. Its usage is known all the same.
            let failure = Failure::new(FailureCode::Internal, error.to_string());
            let unrecorded = Unrecorded::start(&account, record.look(|record| record.worked.known()));
            let ending = Ending::Failed { failure, text: String::new() };
            record.look(|record| ending.outcome(record, unrecorded))
        });
        keep(&self.scope.engine, ticket, &self.scope.approvals).await;
        Ok(Delegated::Ended(Box::new(outcome)))
    }

    /// Answers a call whose child was in the background already before a crash.
    async fn launched_before(&self, child: TaskId) -> Result<Delegated, Failure> {
        let journal = Arc::clone(&self.scope.engine.journal);
        let past = blocking(move || read(journal.as_ref(), child)).await?;
        let running_task = self.scope.engine.present.find(child);
        let output_file = running_task.and_then(|running_task| running_task.sink.output_path());
        let job = Job { notices: past.totals.notices, ..Job::clone(&past.job) };
        Ok(Delegated::Launched(Box::new(launched(&job, output_file))))
    }

    /// Records that a call was answered from the result cache, since no task start shows it.
    async fn record_given(&self, call: &CallId, job: &Job, outcome: &TaskOutcome) {
        // On disk, where this task looks it up to read the rest.
        let given = Fact::OutcomeGiven { call: call.clone(), from: outcome.task_id };
        self.scope.sink.append_synced(given).await.ok();
        let text = format!("“{}” was {}", job.title, whence(outcome));
        // A lost log ends the task by itself.
        self.scope.sink.append(Fact::Noticed { text }).await.ok();
    }
}

/// Starts a child in the background. It runs until it is done or its parent ends.
pub(crate) async fn launch(Admitted { task, notice, .. }: Admitted) -> Result<Box<Launched>, Failure> {
    let mut launched = task.launched();
    launched.notices.extend(notice);
    task.start().await.map_err(journal_failure)?;
    Ok(Box::new(launched))
}
