//! Delegation: a parent's call becomes a child task. The same loop, a clean context, a narrower grant.

use std::collections::HashMap;
use std::sync::Arc;

use sortie_agents::AgentDefinition;
use sortie_contract::Contract;
use sortie_journal::{Journal, TaskState};
use sortie_policy::{Decision, Judge};
use sortie_protocol::{
    AgentConfig, CallId, Event, Fact, Failure, Grant, Job, Resource, TaskId, TaskOutcome, TaskRequest,
};
use sortie_tools::{AnswerParts, BoxFuture, Delegation};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::approval::Approvals;
use crate::blocking::blocking;
use crate::end::{Ending, Tally};
use crate::engine::{EngineError, Inner};
use crate::leg::Wisher;
use crate::remember::{journal_failure, remember};
use crate::replay::Attached;
use crate::resume::{Above, GoingOn, Wish};
use crate::rules::{Kind, serving};
use crate::sink::{Hold, Sink};
use crate::slot::Slot;
use crate::subagents::Asked;
use crate::task::{Parent, Task};

/// One task's door to children of its own.
pub(crate) struct Delegate {
    pub(crate) engine: Arc<Inner>,
    pub(crate) parent: Arc<Job>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    /// The children that answer calls which were under way when the task stopped.
    pub(crate) attached: HashMap<CallId, Attached>,
}

impl Delegation for Delegate {
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<TaskOutcome, Failure>> {
        Box::pin(async move {
            let task = match self.attached.get(call) {
                Some(attached) => match self.again(call, *attached).await? {
                    Found::Ended(outcome) => return Ok(*outcome),
                    Found::Open(task) => *task,
                },
                None => match request.resume.clone() {
                    Some(asked) => self.follow_up(call, request, &asked).await?,
                    None => self.task(call, request)?,
                },
            };
            // Should this future be dropped, the child is told to end, and does so by itself.
            let _child_ends_with_us = task.cancel.clone().drop_guard();
            let (job, account) = (Arc::clone(&task.job), Arc::clone(&task.account));
            let started = task.start().await.map_err(journal_failure)?;
            Ok(match started.await.unwrap_or(Err(EngineError::Aborted)) {
                Ok(outcome) => outcome,
                // It ran, but its ending could not be recorded. What it spent is known all the same.
                Err(error) => {
                    let failure = Failure::new("internal", error.to_string());
                    Tally::new(&account, &job.notices).outcome(&job, Ending::Failed { failure, text: String::new() })
                }
            })
        })
    }

    fn is_switched_on(&self) -> Result<(), Failure> {
        self.engine.rules.check_switched_on()
    }

    fn agent_for(&self, request: &TaskRequest) -> Resource {
        if let Some(asked) = &request.resume {
            return self.engine.agent_of(asked);
        }
        let roster = self.engine.rosters.current();
        let best_match = self.engine.contract.defaults().best_match;
        let serving = serving(&roster.agents, request, Kind::Delegated, best_match);
        serving.map_or(Resource::Nothing, |serving| serving.definition.as_resource())
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        let ids = &self.engine.ids;
        AnswerParts { cwd: &self.engine.rules.cwd, spare_id: ids.task(), mark: ids.mark() }
    }
}

/// A child that was started before its parent stopped.
enum Found {
    Ended(Box<TaskOutcome>),
    Open(Box<Task>),
}

impl Delegate {
    /// The child that answers a call already: its outcome, or itself, to go on.
    async fn again(&self, call: &CallId, attached: Attached) -> Result<Found, Failure> {
        let Attached { child, ended_leg } = attached;
        let journal = Arc::clone(&self.engine.journal);
        let read = move || {
            if let Some(outcome) = outcome_for(journal.as_ref(), child, ended_leg)? {
                return Ok(Err(outcome));
            }
            let standing = journal.standing(child).map_err(journal_failure)?;
            remember(journal.as_ref(), standing).map(Ok)
        };
        let why = match blocking(read).await {
            Ok(Err(outcome)) => return Ok(Found::Ended(Box::new(outcome))),
            Ok(Ok((remembered, notices))) => {
                let above = Some(self.above(call));
                let may_go_on = self.refuse_now(&remembered.past.job.config);
                let going_on = GoingOn { remembered, wish: Wish::AsItWas, notices, above };
                match may_go_on.and_then(|()| self.engine.go_on(going_on)) {
                    Ok(task) => return Ok(Found::Open(Box::new(task))),
                    Err(why) => why,
                }
            }
            Err(why) => why,
        };
        self.end_instead(call, attached, why).await.map(|outcome| Found::Ended(Box::new(outcome)))
    }

    /// A child goes on only where it could be started now.
    fn refuse_now(&self, child: &AgentConfig) -> Result<(), Failure> {
        self.engine.rules.check_depth(self.parent.config.depth)?;
        let roster = self.engine.rosters.current();
        // One whose agent is gone is refused where its grant is made anew.
        let Ok(definition) = roster.agents.get(&child.agent) else { return Ok(()) };
        refuse_denied(&self.judge, self.engine.contract.as_ref(), definition)
    }

    /// The child that answers a call does not go on, because the call is refused: it ends, if it has not.
    pub(crate) async fn let_go(&self, call: &CallId, refusal: &str) -> Option<TaskOutcome> {
        let attached = *self.attached.get(call)?;
        self.end_instead(call, attached, Failure::new("permission", refusal)).await.ok()
    }

    /// How a child answers that cannot go on: it had been started, so with what it came to, and why there is no more.
    async fn end_instead(&self, call: &CallId, attached: Attached, why: Failure) -> Result<TaskOutcome, Failure> {
        let Attached { child, ended_leg } = attached;
        match self.engine.end_attached(child, ended_leg, (&self.sink, call)).await {
            Ok((outcome, true)) => Ok(outcome),
            Ok((mut outcome, false)) => {
                outcome.notices.push(format!("it was interrupted and could not go on: {why}"));
                Ok(outcome)
            }
            // Somebody else has it, or nothing of its log can be read: it stays as it is, and nobody waits for it any more.
            Err(_) => Err(why),
        }
    }

    fn above(&self, call: &CallId) -> Above<'_> {
        Above {
            config: &self.parent.config,
            account: &self.account,
            approvals: &self.approvals,
            cancel: self.cancel.child_token(),
            parent: self.parent_of(call),
        }
    }

    /// A child that has ended, with a follow-up.
    async fn follow_up(&self, call: &CallId, request: TaskRequest, asked: &str) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        engine.rules.check_depth(self.parent.config.depth)?;
        let (remembered, mut notices) = engine.wanted(asked, Some(self.parent.task)).await?;
        notices.extend(engine.differences(&request, &remembered, &self.judge)?);
        let wish = Wish::Leg { prompt: Some(request.prompt), limits: request.limits, by: Wisher::Call };
        engine.go_on(GoingOn { remembered, wish, notices, above: Some(self.above(call)) })
    }

    fn parent_of(&self, call: &CallId) -> Parent {
        Parent { sink: self.sink.clone(), call: call.clone(), deadline: self.deadline }
    }

    fn task(&self, call: &CallId, request: TaskRequest) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        let defaults = engine.contract.defaults();
        let roster = engine.rosters.current();
        let serving = serving(&roster.agents, &request, Kind::Delegated, defaults.best_match);
        if let Ok(serving) = &serving
            && defaults.refuses_circles
        {
            refuse_circle(&self.parent.config, &serving.definition.name)?;
        }
        engine.rules.check_depth(self.parent.config.depth)?;
        let serving = serving?;
        // The gate has judged the agent that was there a moment ago; this is the one that is started.
        refuse_denied(&self.judge, engine.contract.as_ref(), serving.definition)?;
        if defaults.refuses_missing_tools {
            refuse_missing_tools(&self.parent.config.grant, serving.definition)?;
        }
        let from_parent = (Kind::Delegated, Some(&self.parent.config));
        let asked = Asked::from(&request);
        let (config, request) = engine.resolve(&roster, serving, from_parent, request)?;
        self.account.admit_child()?;

        let account = Account::below(&self.account, config.limits);
        let job = Arc::new(engine.job(request, config, Some(&self.parent)));
        Ok(Task {
            engine: Arc::clone(engine),
            roster,
            asked,
            sink: engine.sink(&job, Hold::FIRST),
            job,
            account,
            cancel: self.cancel.child_token(),
            slot: Arc::new(Slot::of(Arc::clone(&engine.slots))),
            approvals: Arc::clone(&self.approvals),
            parent: Some(self.parent_of(call)),
            past: None,
        })
    }
}

/// How the child has answered a call, if it has: with the leg that was told, or the newest if it ended untold.
pub(crate) fn outcome_for(
    journal: &dyn Journal,
    child: TaskId,
    leg: Option<u32>,
) -> Result<Option<TaskOutcome>, Failure> {
    let standing = journal.standing(child).map_err(journal_failure)?;
    let has_ended = matches!(standing.state, TaskState::Ended(_));
    match leg {
        Some(leg) if leg != standing.leg || !has_ended => ending_of(journal, child, leg),
        Some(_) => journal.ending(child).map_err(journal_failure),
        None if has_ended => journal.ending(child).map_err(journal_failure),
        None => Ok(None),
    }
}

/// The ending of one leg, which later ones have followed.
fn ending_of(journal: &dyn Journal, task: TaskId, leg: u32) -> Result<Option<TaskOutcome>, Failure> {
    let mut ending = None;
    let mut look = |event: Event| match event.fact {
        Fact::TaskEnded { outcome } if event.leg == leg => ending = Some(*outcome),
        _ => {}
    };
    journal.read_each(task, 1, &mut look).map_err(journal_failure)?;
    Ok(ending)
}

/// Nobody starts an agent that a rule denies. A question has been answered by then, or was never asked: whoever starts a
/// task of their own has said yes by doing so.
pub(crate) fn refuse_denied(judge: &Judge, contract: &dyn Contract, agent: &AgentDefinition) -> Result<(), Failure> {
    match judge.decide(contract.tool_name(), &agent.as_resource()) {
        Decision::Deny(ground) => {
            Err(Failure::new("permission", format!("`{}` was not started: {ground}", agent.name)))
        }
        Decision::Allow | Decision::Ask(_) => Ok(()),
    }
}

/// An agent that is already at work further up would wait for itself.
fn refuse_circle(parent: &AgentConfig, name: &str) -> Result<(), Failure> {
    let chain = &parent.chain;
    let Some(first) = chain.iter().position(|above| above == name) else { return Ok(()) };
    // All that led there. A main agent was delegated to by nobody, unless the circle begins with it.
    let has_main = chain.len() > parent.depth as usize;
    let start = usize::from(has_main && first > 0);
    let circle: Vec<&str> = chain[start..].iter().map(String::as_str).chain([name]).collect();
    let message = format!("`{name}` is already at work further up: {}; do this part yourself", circle.join(" -> "));
    Err(Failure::new("circular", message).about(circle))
}

/// A definition that asks for a tool by name is not run without it.
fn refuse_missing_tools(grant: &Grant, definition: &AgentDefinition) -> Result<(), Failure> {
    let named: Vec<String> = definition.named_tools().map(str::to_owned).collect();
    let had = sortie_policy::offerable(grant, &named);
    let missing: Vec<&str> = named.iter().filter(|tool| !had.contains(tool)).map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("`{}` needs tools that its parent may not use: {}", definition.name, missing.join(", "));
    Err(Failure::new("tool_access", message).about(missing))
}
