//! A call that goes on with a task that has ended, instead of starting one: which task may be meant, and how it goes on.
//!
//! Calls are models' words, so they reach less far than a person: only the caller's own sub-agents and those that it has adopted, and only for
//! some days.

use std::sync::Arc;
use std::time::Duration;

use sortie_agents::AgentDefinition;
use sortie_journal::{Journal, TaskState};
use sortie_policy::Judge;
use sortie_protocol::{Event, Fact, Failure, FailureCode, Resource, Sender, TaskId, TaskRequest};

use crate::conversation::load_task::{Remembered, remember};
use crate::messages::inbox::Message;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::resolve::permissions::refuse_denied;
use crate::tasks::delegate::Delegate;
use crate::tasks::resume::{GoingOn, Wish};
use crate::tasks::resume_limits::Wisher;
use crate::tasks::running::Running;
use crate::tasks::state::EngineState;

impl Delegate {
    /// A child that goes on with a message of the same turn comes to its end first: what is said to it is said one after the
    /// other. It is not waited for if it has something to say itself.
    pub(crate) async fn let_finish(&self, asked: &str) {
        let Ok(child) = asked.trim().parse() else { return };
        let resident = self.engine.present.find(child).filter(|_| self.inbox.has_just_written_to(child));
        let Some(resident) = resident else { return };
        let is_its = |message: &Message| matches!(message.from, Sender::Task { task, .. } if task == child);
        tokio::select! {
            () = resident.over.cancelled() => {}
            _ = self.inbox.message(is_its) => {}
        }
    }
}

/// Whether a task has another one: it has started it, or has adopted it since the one that did has failed.
pub(crate) fn is_own(
    journal: &dyn Journal,
    own: TaskId,
    (child, parent): (TaskId, Option<TaskId>),
) -> Result<bool, Failure> {
    let mut is_own = parent == Some(own);
    if !is_own {
        let mut look = |event: Event| {
            is_own |= matches!(event.fact, Fact::ChildAdopted { child: adopted, .. } if adopted == child);
        };
        journal.read_each(own, 1, &mut look).map_err(journal_failure)?;
    }
    Ok(is_own)
}

impl EngineState {
    /// Goes on with the task that a request names, which nobody waits for.
    pub(crate) async fn follow_up(self: &Arc<Self>, request: TaskRequest, asked: &str) -> Result<Running, Failure> {
        let request = self.in_full(request)?;
        let (remembered, mut notices) = self.wanted(asked, None).await?;
        let judge = self.permissions.judge(self.places.clone());
        let judge = judge.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
        notices.extend(self.differences(&request, &remembered, &judge)?);
        let wish = Wish::Leg { prompt: Some(request.prompt), limits: request.limits, by: Wisher::Call };
        let mut task = self.go_on(GoingOn { remembered, wish, notices, above: None, takes_over: false }).await?;
        self.check_rate()?;
        task.consult_hooks().await?;
        if request.background {
            task.sink.tell_in(&self.reports, &[]);
        }
        Running::start(task).await.map_err(journal_failure)
    }
    /// The task that a call of `by` wants to go on with, read back, and what is not known of it; or why it cannot.
    pub(crate) async fn wanted(&self, asked: &str, by: Option<TaskId>) -> Result<(Remembered, Vec<String>), Failure> {
        let within = self.rules.check_resume()?;
        let unknown = || Failure::new(FailureCode::NoSuchTask, format!("there is no task `{}`", asked.trim()));
        let task: TaskId = asked.trim().parse().map_err(|_| unknown())?;
        let journal = Arc::clone(&self.journal);
        let read = move || {
            let standing = journal.standing(task).map_err(journal_failure)?;
            if standing.state == TaskState::Interrupted {
                let message = format!("{task} was interrupted; it takes a follow-up when it has gone on to its end");
                return Err(Failure::new(FailureCode::StillOpen, message));
            }
            let remembered = remember(journal.as_ref(), standing)?;
            let parent = remembered.0.past.job.parent;
            if by.map_or(Ok(true), |by| is_own(journal.as_ref(), by, (task, parent)))? {
                return Ok(remembered);
            }
            let message = format!("{task} is no sub-agent of this task; only the task that has it can go on with it");
            Err(Failure::new(FailureCode::NotOwnTask, message))
        };
        let remembered = blocking(read).await;
        let (remembered, notices) =
            remembered.map_err(|failure| if failure.code == FailureCode::NoSuchTask { unknown() } else { failure })?;
        self.refuse_expired(&remembered, within)?;
        Ok((remembered, notices))
    }

    fn refuse_expired(&self, remembered: &Remembered, within: Duration) -> Result<(), Failure> {
        let age = Duration::from_millis(self.clock.now().0.saturating_sub(remembered.past.worked.last_heard().0));
        if age <= within {
            return Ok(());
        }
        let days = |time: Duration| time.as_secs() / (24 * 60 * 60);
        let message = format!(
            "{} has expired: it ended {} days ago, and a call can go on with a task for {} (`task_tool.resume_days`); \
             start a new one",
            remembered.past.job.task,
            days(age),
            days(within)
        );
        Err(Failure::new(FailureCode::Expired, message))
    }

    /// What is said to a task that goes on: where a template is called, in the template's words.
    pub(crate) fn in_full(&self, request: TaskRequest) -> Result<TaskRequest, Failure> {
        self.rosters.current().templates().applied(request, self.rules.max_prompt_bytes)
    }

    /// What there is to say of a call for a task that goes on. An agent that a rule denies goes on for nobody.
    pub(crate) fn differences(
        &self,
        request: &TaskRequest,
        remembered: &Remembered,
        judge: &Judge,
    ) -> Result<Vec<String>, Failure> {
        let stored = &remembered.past.job.config;
        let roster = self.rosters.current();
        // One that is gone is refused where the task's grant is made anew.
        if let Ok(definition) = roster.agents.get(&stored.agent) {
            refuse_denied(judge, self.contract.as_ref(), definition)?;
        }
        if request.output_schema.is_some() && request.output_schema != stored.output_schema {
            let message =
                "a task goes on with the `output_schema` that it began with; leave it out, or start a new task";
            return Err(Failure::new(FailureCode::InvalidArguments, message));
        }
        Ok(self.otherwise(request, remembered))
    }

    /// What is odd about a request, and what a task that goes on has otherwise than the request or its template says.
    pub(crate) fn otherwise(&self, request: &TaskRequest, remembered: &Remembered) -> Vec<String> {
        let stored = &remembered.past.job.config;
        let mut notices = request.notices.clone();
        let roster = self.rosters.current();
        let is_named = !request.agent.is_empty() && !request.agent_is_usual;
        let named = is_named.then(|| roster.agents.get(&request.agent).ok()).flatten();
        if let Some(other) = named.filter(|named| named.name != stored.agent) {
            notices
                .push(format!("asked for was `{}`; the task goes on as `{}`, as it began", other.name, stored.agent));
        }
        let is_its = |model: &String| [&stored.model.id, &stored.model.route].contains(&model);
        if let Some(model) = request.model.as_ref().filter(|model| !is_its(model)) {
            notices.push(format!("asked for was `{model}`; the task goes on with its model `{}`", stored.model.id));
        }
        notices
    }

    /// The agent of the task that a call wants to go on with, by all its names; nothing if there is none.
    pub(crate) fn agent_of(&self, asked: &str) -> Resource {
        let task: Option<TaskId> = asked.trim().parse().ok();
        // The log may not show yet what has just begun.
        let at_work = |task| Some(self.present.find(task)?.job.config.agent.clone());
        let recorded = |task: TaskId| Some(self.journal.find(task.letters()).ok()?.pop()?.agent);
        let Some(agent) = task.and_then(|task| at_work(task).or_else(|| recorded(task))) else {
            return Resource::Nothing;
        };
        let roster = self.rosters.current();
        roster.agents.get(&agent).map_or(Resource::Nothing, AgentDefinition::as_resource)
    }
}
