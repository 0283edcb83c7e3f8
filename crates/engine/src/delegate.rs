//! Delegation: a parent's call becomes a child task. The same loop, a clean context, a narrower grant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use sortie_agents::AgentDefinition;
use sortie_contract::Contract;
use sortie_journal::{Journal, TaskState};
use sortie_policy::{Decision, Judge};
use sortie_protocol::{
    AgentConfig, CallId, Event, Fact, Failure, Grant, Job, Launched, Resource, TaskId, TaskOutcome, TaskRequest,
};
use sortie_tools::{AnswerParts, BoxFuture, Delegated, Delegation};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::address::{Address, Recipient};
use crate::approval::Approvals;
use crate::blocking::blocking;
use crate::end::{Ending, Tally};
use crate::engine::{EngineError, Inner};
use crate::inbox::Inbox;
use crate::leg::Wisher;
use crate::place::Place;
use crate::recall::Known;
use crate::remember::{journal_failure, read, remember};
use crate::replay::Attached;
use crate::resume::{Above, GoingOn, Wish};
use crate::rules::{Kind, serving};
use crate::sink::{Hold, Sink};
use crate::slot::Slot;
use crate::subagents::Asked;
use crate::task::{Parent, Task, launched};

/// Who serves where a call names nobody.
pub(crate) const USUAL_AGENT: &str = "general-purpose";

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
    pub(crate) inbox: Arc<Inbox>,
    /// What the task's outcome should say of its delegations.
    pub(crate) notices: Mutex<Vec<String>>,
}

impl Delegation for Delegate {
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        Box::pin(async move {
            let waits = !request.background;
            if let Some(attached) = self.attached.get(call).filter(|attached| attached.is_released) {
                // It goes on by itself, since the task did.
                return self.launched_before(attached.child).await;
            }
            let address = self.address(call, waits);
            let parent = Parent { address: Arc::clone(&address), deadline: self.deadline };
            let task = match self.attached.get(call) {
                Some(attached) => match self.again(parent, call, *attached).await? {
                    Found::Ended(outcome) => return Ok(Delegated::Ended(outcome)),
                    Found::Open(task) => *task,
                },
                None => match request.resume.clone() {
                    Some(asked) => self.follow_up(parent, request, &asked).await?,
                    None => return self.begin(call, parent, request, &address).await,
                },
            };
            if waits { Self::wait(task, &address).await } else { self.launch_by(call, task).await }
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
        // A template may say who serves. One that does not fit is refused before anybody is asked.
        let most_bytes = self.engine.rules.max_prompt_bytes;
        let Ok(request) = roster.templates().applied(request.clone(), USUAL_AGENT, most_bytes) else {
            return Resource::Nothing;
        };
        let serving = serving(&roster.agents, &request, Kind::Delegated, best_match);
        serving.map_or(Resource::Nothing, |serving| serving.definition.as_resource())
    }

    fn answer_parts(&self) -> AnswerParts<'_> {
        let ids = &self.engine.ids;
        AnswerParts { cwd: &self.engine.rules.cwd, spare_id: ids.task(), mark: ids.mark() }
    }
}

/// A child that was started before its parent stopped.
pub(crate) enum Found {
    Ended(Box<TaskOutcome>),
    Open(Box<Task>),
}

impl Delegate {
    /// A new child, unless somebody has done the same on the same files.
    async fn begin(
        &self,
        call: &CallId,
        parent: Parent,
        request: TaskRequest,
        address: &Address,
    ) -> Result<Delegated, Failure> {
        let waits = !request.background;
        let mut task = self.task(parent, request)?;
        task.consult_hooks().await.inspect_err(|_| self.account.take_back_child())?;
        if !waits {
            return self.launch_by(call, task).await;
        }
        match self.known(&mut task).await {
            Known::Done(outcome) => {
                self.account.take_back_child();
                Ok(Delegated::Ended(outcome))
            }
            Known::New(ticket) => {
                let delegated = Self::wait(task, address).await?;
                if matches!(delegated, Delegated::Ended(_)) {
                    self.keep(ticket).await;
                }
                Ok(delegated)
            }
        }
    }

    /// Starts a child and waits for its end, or until it is released.
    async fn wait(task: Task, address: &Address) -> Result<Delegated, Failure> {
        // Should this future be dropped, the child is told to end, and does so by itself.
        let child_ends_with_us = task.cancel.clone().drop_guard();
        let (job, account) = (Arc::clone(&task.job), Arc::clone(&task.account));
        let sink = task.sink.clone();
        let started = task.start().await.map_err(journal_failure)?;
        let ended = tokio::select! {
            biased;
            // First: once it was let go its report is mail, even if it has ended by now.
            () = address.released() => None,
            ended = started => Some(ended.unwrap_or(Err(EngineError::Aborted))),
        };
        // What still works below it is not its own any more.
        drop(child_ends_with_us.disarm());
        let Some(ended) = ended else {
            return Ok(Delegated::Launched(Box::new(launched(&job, sink.output_path()))));
        };
        Ok(Delegated::Ended(Box::new(match ended {
            Ok(outcome) => outcome,
            // It ran, but its ending could not be recorded. What it spent is known all the same.
            Err(error) => {
                let failure = Failure::new("internal", error.to_string());
                Tally::new(&account, &job.notices).outcome(&job, Ending::Failed { failure, text: String::new() })
            }
        })))
    }

    async fn launch_by(&self, call: &CallId, task: Task) -> Result<Delegated, Failure> {
        self.launch(task, self.inbox.place_of(call)).await.map(Delegated::Launched)
    }

    /// Starts a child that goes on by itself. It ends with this task, or when it is done.
    pub(crate) async fn launch(&self, task: Task, place: Place) -> Result<Box<Launched>, Failure> {
        let child = task.job.task;
        let failure = task.sink.tell_in(&self.engine.reports, &[]);
        let mut launched = task.launched();
        launched.notices.extend(failure);
        self.inbox.expect(child, place);
        match task.start().await {
            Ok(_runs_on) => Ok(Box::new(launched)),
            Err(error) => {
                self.inbox.forget(child);
                Err(journal_failure(error))
            }
        }
    }

    /// What a call is told whose child goes on by itself since before a crash.
    async fn launched_before(&self, child: TaskId) -> Result<Delegated, Failure> {
        let journal = Arc::clone(&self.engine.journal);
        let past = blocking(move || read(journal.as_ref(), child)).await?;
        let resident = self.engine.present.find(child);
        let output_file = resident.and_then(|resident| resident.sink.output_path());
        Ok(Delegated::Launched(Box::new(launched(&past.job, output_file))))
    }

    pub(crate) fn address(&self, call: &CallId, waits: bool) -> Arc<Address> {
        let (sink, inbox) = (self.sink.clone(), Arc::clone(&self.inbox));
        Address::new(Recipient { sink, inbox, call: call.clone(), waits, is_over: false })
    }

    /// The child that answers a call already: its outcome, or itself, to go on.
    pub(crate) async fn again(&self, parent: Parent, call: &CallId, attached: Attached) -> Result<Found, Failure> {
        let Attached { child, ended_leg, .. } = attached;
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
                let above = Some(self.above(parent));
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
        match self.end(call, attached).await {
            Ok((outcome, true)) => Ok(outcome),
            Ok((mut outcome, false)) => {
                outcome.notices.push(format!("it was interrupted and could not go on: {why}"));
                Ok(outcome)
            }
            // Somebody else has it, or nothing of its log can be read: it stays as it is, and nobody waits for it any more.
            Err(_) => Err(why),
        }
    }

    /// How a child has ended, and whether it had done so before; one that nobody runs is ended now.
    pub(crate) async fn end(&self, call: &CallId, attached: Attached) -> Result<(TaskOutcome, bool), Failure> {
        self.engine.end_attached(attached.child, attached.ended_leg, (&self.sink, call)).await
    }

    fn above(&self, parent: Parent) -> Above<'_> {
        Above {
            config: &self.parent.config,
            account: &self.account,
            approvals: &self.approvals,
            cancel: self.cancel.child_token(),
            parent,
        }
    }

    /// A child that has ended, with a follow-up.
    async fn follow_up(&self, parent: Parent, request: TaskRequest, asked: &str) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        engine.check_background(&request)?;
        engine.rules.check_depth(self.parent.config.depth)?;
        let (remembered, mut notices) = engine.wanted(asked, Some(self.parent.task)).await?;
        notices.extend(engine.differences(&request, &remembered, &self.judge)?);
        let wish = Wish::Leg { prompt: Some(request.prompt), limits: request.limits, by: Wisher::Call };
        let mut task = engine.go_on(GoingOn { remembered, wish, notices, above: Some(self.above(parent)) })?;
        task.consult_hooks().await?;
        Ok(task)
    }

    fn task(&self, parent: Parent, request: TaskRequest) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        engine.check_background(&request)?;
        let defaults = engine.contract.defaults();
        let roster = engine.rosters.current();
        let request = roster.templates().applied(request, USUAL_AGENT, engine.rules.max_prompt_bytes)?;
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
            parent: Some(parent),
            inbox: Arc::default(),
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
