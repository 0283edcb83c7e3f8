//! Delegation: a parent's call becomes a child task. The same loop, a clean context, a narrower grant.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use sortie_agents::AgentDefinition;
use sortie_policy::Judge;
use sortie_protocol::{AgentConfig, CallId, Failure, FailureCode, Grant, Job, Launched, Resource, TaskId, TaskRequest};
use sortie_tools::{AnswerParts, BoxFuture, Delegated, Delegation};
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::deadline::Deadline;
use crate::budget::slots::Slot;
use crate::conversation::load_task::read;
use crate::conversation::outcome::{Ending, Tally};
use crate::conversation::replay::Attached;
use crate::gate::call_order::Words;
use crate::log::writer::{Hold, Sink};
use crate::messages::inbox::Inbox;
use crate::messages::report_cap::{self, Room};
use crate::messages::report_target::{Address, Recipient};
use crate::ports::approval::Approvals;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::resolve::permissions::refuse_denied;
use crate::resolve::settings::{Kind, serving};
use crate::tasks::lookup::Known;
use crate::tasks::observers::Asked;
use crate::tasks::reattach::{Found, Persistence};
use crate::tasks::resume::{Above, GoingOn, Wish};
use crate::tasks::resume_limits::Wisher;
use crate::tasks::state::{EngineError, EngineState};
use crate::tasks::task::{Task, launched};

/// One task's door to children of its own.
pub(crate) struct Delegate {
    pub(crate) engine: Arc<EngineState>,
    pub(crate) parent: Arc<Job>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Arc<Deadline>,
    /// The children that answer calls which were under way when the task stopped.
    pub(crate) attached: HashMap<CallId, Attached>,
    /// Whoever has them and cannot be seen from here is known to be gone.
    pub(crate) takes_over: bool,
    /// All calls that were.
    pub(crate) begun: HashSet<CallId>,
    pub(crate) inbox: Arc<Inbox>,
    /// What the task's conversation has for reports.
    pub(crate) room: Arc<Room>,
    /// What the calls of its newest turn say to them.
    pub(crate) words: Arc<Words>,
    /// What the task's outcome should say of its delegations.
    pub(crate) notices: Mutex<Vec<String>>,
}

impl Delegation for Delegate {
    fn delegate<'a>(&'a self, call: &'a CallId, request: TaskRequest) -> BoxFuture<'a, Result<Delegated, Failure>> {
        Box::pin(async move {
            let mut delegated = self.answer(call, request).await?;
            if let Delegated::Ended(outcome) = &mut delegated {
                report_cap::fit(outcome, &self.room, (self.engine.contract.as_ref(), &self.engine.reports)).await;
            }
            Ok(delegated)
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
        let Ok(request) = roster.templates().applied(request.clone(), most_bytes) else {
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

impl Delegate {
    /// What a call is answered with: a child that has ended, or that goes on by itself.
    async fn answer(&self, call: &CallId, request: TaskRequest) -> Result<Delegated, Failure> {
        let waits = !request.background;
        if let Some(attached) = self.attached.get(call).filter(|attached| attached.is_released) {
            // It goes on by itself, since the task did.
            return self.launched_before(attached.child).await;
        }
        if let Some(attached) = self.attached.get(call) {
            return self.answer_again(call, *attached, waits).await;
        }
        let address = self.address(call, waits);
        let Some(asked) = request.resume.clone() else { return self.begin((call, request), address).await };
        let task = self.follow_up(Arc::clone(&address), request, &asked).await?;
        self.start((call, task), &address, waits).await
    }

    /// The same by a child that was started before a crash.
    async fn answer_again(&self, call: &CallId, attached: Attached, waits: bool) -> Result<Delegated, Failure> {
        let persistence = Persistence::new();
        loop {
            let address = self.address(call, waits);
            let task = match self.again(Arc::clone(&address), call, attached).await {
                Found::Ended(outcome) | Found::OutOfReach(outcome) => return Ok(Delegated::Ended(outcome)),
                Found::Open(task) => *task,
            };
            match self.start((call, task), &address, waits).await {
                Err(held) if persistence.tries_again_after(&held).await => {}
                answered => return answered,
            }
        }
    }

    /// A failure means that it was not started.
    async fn start(&self, (call, task): (&CallId, Task), address: &Address, waits: bool) -> Result<Delegated, Failure> {
        if waits {
            return self.wait((call, task), address).await;
        }
        self.launch(task).await.map(Delegated::Launched)
    }

    /// A new child, unless somebody has done the same on the same files.
    async fn begin(
        &self,
        (call, request): (&CallId, TaskRequest),
        address: Arc<Address>,
    ) -> Result<Delegated, Failure> {
        let waits = !request.background;
        let mut task = self.task(Arc::clone(&address), request).await?;
        let known = if waits { self.known(call, &mut task).await } else { Known::New(None) };
        let ticket = match known {
            Known::New(ticket) => ticket,
            // Nobody is told of a start that there is not.
            Known::Done(outcome) => {
                self.account.take_back_child();
                return Ok(Delegated::Ended(outcome));
            }
        };
        self.engine.check_rate().inspect_err(|_| self.account.take_back_child())?;
        task.consult_hooks().await.inspect_err(|_| self.account.take_back_child())?;
        if !waits {
            return self.launch(task).await.map(Delegated::Launched);
        }
        let delegated = self.wait((call, task), &address).await?;
        if matches!(delegated, Delegated::Ended(_)) {
            self.engine.keep(ticket, &self.approvals).await;
        }
        Ok(delegated)
    }

    /// Starts a child and waits for its end, or until it is released.
    async fn wait(&self, (call, task): (&CallId, Task), address: &Address) -> Result<Delegated, Failure> {
        // Should this future be dropped, the child is told to end, and does so by itself.
        let child_ends_with_us = task.cancel.clone().drop_guard();
        let (job, account) = (Arc::clone(&task.job), Arc::clone(&task.account));
        let sink = task.sink.clone();
        let started = task.start().await.map_err(journal_failure)?;
        self.words.are_said(call);
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
                let failure = Failure::new(FailureCode::Internal, error.to_string());
                Tally::new(&account, &job.notices).outcome(&job, Ending::Failed { failure, text: String::new() })
            }
        })))
    }

    /// Starts a child that goes on by itself. It ends with this task, or when it is done.
    pub(crate) async fn launch(&self, task: Task) -> Result<Box<Launched>, Failure> {
        let failure = task.sink.tell_in(&self.engine.reports, &[]);
        let mut launched = task.launched();
        launched.notices.extend(failure);
        task.start().await.map_err(journal_failure)?;
        Ok(Box::new(launched))
    }

    /// What a call is told whose child goes on by itself since before a crash.
    async fn launched_before(&self, child: TaskId) -> Result<Delegated, Failure> {
        let journal = Arc::clone(&self.engine.journal);
        let past = blocking(move || read(journal.as_ref(), child)).await?;
        let resident = self.engine.present.find(child);
        let output_file = resident.and_then(|resident| resident.sink.output_path());
        let job = Job { notices: past.deeds.notices, ..past.job };
        Ok(Delegated::Launched(Box::new(launched(&job, output_file))))
    }

    pub(crate) fn address(&self, call: &CallId, waits: bool) -> Arc<Address> {
        let (sink, inbox) = (self.sink.clone(), Arc::clone(&self.inbox));
        Address::new(Recipient { sink, inbox, call: call.clone(), waits, is_over: false }, &self.deadline)
    }

    pub(crate) fn above(&self, address: Arc<Address>) -> Above<'_> {
        Above {
            config: &self.parent.config,
            account: &self.account,
            approvals: &self.approvals,
            cancel: self.cancel.child_token(),
            address,
        }
    }

    /// A child that has ended, with a follow-up.
    async fn follow_up(&self, address: Arc<Address>, request: TaskRequest, asked: &str) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        engine.check_background(&request)?;
        engine.rules.check_depth(self.parent.config.depth)?;
        let request = engine.in_full(request)?;
        self.let_finish(asked).await;
        let (remembered, mut notices) = engine.wanted(asked, Some(self.parent.task)).await?;
        notices.extend(engine.differences(&request, &remembered, &self.judge)?);
        let wish = Wish::Leg { prompt: Some(request.prompt), limits: request.limits, by: Wisher::Call };
        let task =
            engine.go_on(GoingOn { remembered, wish, notices, above: Some(self.above(address)), takes_over: false });
        let mut task = task.await?;
        engine.check_rate()?;
        task.consult_hooks().await?;
        Ok(task)
    }

    async fn task(&self, address: Arc<Address>, request: TaskRequest) -> Result<Task, Failure> {
        let engine = &self.engine;
        engine.rules.check_prompt(&request)?;
        engine.check_background(&request)?;
        let defaults = engine.contract.defaults();
        let roster = engine.rosters.current();
        let request = roster.templates().applied(request, engine.rules.max_prompt_bytes)?;
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
        let equipped = engine.equipping().equipped(&roster, serving.definition, from_parent, &self.cancel).await;
        let (config, request) = engine.resolve(&equipped, serving, from_parent, request)?;
        let account = Account::below(&self.account, config.limits);
        account.check_prices(&config.model, &engine.models.terms(&config.model).prices)?;
        self.account.admit_child()?;
        let job = Arc::new(engine.job(request, config, Some(&self.parent)));
        let sink = engine.sink(&job, Hold::FIRST);
        Ok(Task {
            engine: Arc::clone(engine),
            roster: equipped,
            asked,
            slot: Arc::new(Slot::of(Arc::clone(&engine.slots), sink.clone(), Arc::clone(&account))),
            sink,
            job,
            account,
            cancel: self.cancel.child_token(),
            approvals: Arc::clone(&self.approvals),
            address: Some(address),
            inbox: Arc::default(),
            hook_notices: Vec::new(),
            past: None,
        })
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
    Err(Failure::new(FailureCode::Circular, message).about(circle))
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
    Err(Failure::new(FailureCode::ToolAccess, message).about(missing))
}
