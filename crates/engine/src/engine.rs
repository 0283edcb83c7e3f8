//! The engine's front: what it is made of, and how a task without a parent is started.

pub(crate) mod host;
pub(crate) mod subagents;

use std::sync::{Arc, OnceLock};

use sortie_agents::{AgentDefinition, Agents, Resolution};
use sortie_contract::{Contract, ReportCap};
use sortie_journal::{Journal, JournalError};
use sortie_llm::Models;
use sortie_policy::Places;
use sortie_protocol::{AgentConfig, Failure, Job, Limits, TaskId, TaskOutcome, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Changes, ShellSetup, Tool};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::slots::Slot;
use crate::budget::start_rate::DelegationRate;
use crate::conversation::request_size::Counting;
use crate::conversation::schema_answer::asked_for;
use crate::engine::subagents::{Asked, Audience};
use crate::log::notes::Boards;
use crate::log::writer::{Hold, Sink};
use crate::messages::running_task::Stopper;
use crate::messages::running_tasks::Present;
use crate::ports::approval::Desk;
use crate::ports::hooks::Hooks;
use crate::resolve::contract_agents::conduct;
use crate::resolve::grant_preview::{drop_idle, tools_at};
use crate::resolve::instructions::Instructions;
use crate::resolve::permissions::Permissions;
use crate::resolve::remote_tools::RemoteTools;
use crate::resolve::roster::{Roster, Rosters, undescribed};
use crate::resolve::settings::{Kind, ModelWish, Rules, Serving, lowered, serving, turns, type_default};
use crate::tasks::delegate::refuse_denied;
use crate::tasks::lookup::Known;
use crate::tasks::result_cache::{Cache, Ticket};
use crate::tasks::task::Task;
use crate::{Clock, Ids};

/// A title is a few words; what is longer is cut, for everybody who lists tasks.
const MAX_TITLE_CHARS: usize = 200;

/// Everything that an engine is made of.
pub struct EngineParts {
    pub journal: Arc<dyn Journal>,
    pub models: Arc<dyn Models>,
    pub workspace: Arc<Workspace>,
    pub agents: Arc<dyn Agents>,
    pub contract: Arc<dyn Contract>,
    /// Tools beside the built-in ones. One with a built-in's name takes its place.
    pub more_tools: Vec<Arc<dyn Tool>>,
    /// Tools of others' servers, which are found when a task starts.
    pub remote_tools: Arc<dyn RemoteTools>,
    /// How commands are run; `None` where nobody has any.
    pub shell: Option<Arc<ShellSetup>>,
    /// Where reports go that are too long to be delivered.
    pub reports: Arc<SpillDir>,
    /// Which task has answered what; `None` where results are not given again.
    pub cache: Option<Arc<Cache>>,
    /// Users' own programs that are told of tasks.
    pub hooks: Arc<dyn Hooks>,
    pub rules: Rules,
    pub permissions: Permissions,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// A delegation engine over one workspace. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

/// A started task without a parent, or one whose outcome is given again. Dropping it stops the task.
pub struct Running {
    /// The one whose outcome it is.
    pub task: TaskId,
    job: Arc<Job>,
    cancel: CancellationToken,
    finished: JoinHandle<Result<TaskOutcome, EngineError>>,
}

/// The engine itself is broken; what a task can end as is in its outcome.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the task was aborted from outside")]
    Aborted,
}

pub(crate) struct Inner {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) rosters: Rosters,
    pub(crate) remote_tools: Arc<dyn RemoteTools>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) shell: Option<Arc<ShellSetup>>,
    /// The same with walls, for tasks that were started with them; made when the first of them goes on.
    pub(crate) confined: OnceLock<Arc<ShellSetup>>,
    /// Who changes files at the same time.
    pub(crate) changes: Arc<Changes>,
    pub(crate) reports: Arc<SpillDir>,
    pub(crate) rules: Rules,
    pub(crate) permissions: Permissions,
    /// Of the judges of all tasks.
    pub(crate) places: Places,
    pub(crate) desk: Arc<Desk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) delegation_rate: DelegationRate,
    pub(crate) counting: Arc<Counting>,
    pub(crate) audience: Audience,
    pub(crate) present: Arc<Present>,
    pub(crate) boards: Boards,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) hooks: Arc<dyn Hooks>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts { journal, models, workspace, agents, contract, more_tools, shell, .. } = parts;
        let EngineParts { reports, cache, hooks, rules, permissions, clock, ids, remote_tools, .. } = parts;
        let rosters = Rosters::new(agents, Arc::clone(&contract), (more_tools, shell.is_some()), rules.clone());
        let slots = Arc::new(Semaphore::new(rules.max_concurrent.clamp(1, Semaphore::MAX_PERMITS)));
        let places = permissions.places(&workspace);
        let inner = Inner {
            journal,
            models,
            workspace,
            rosters,
            remote_tools,
            contract,
            shell,
            confined: OnceLock::new(),
            changes: Arc::default(),
            reports,
            rules,
            permissions,
            places,
            desk: Arc::default(),
            clock,
            ids,
            slots,
            delegation_rate: DelegationRate::default(),
            counting: Arc::default(),
            audience: Audience::default(),
            present: Arc::default(),
            boards: Boards::default(),
            cache,
            hooks,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a main agent. A failure means that nothing was started.
    pub async fn run(&self, request: TaskRequest) -> Result<Running, Failure> {
        // All that is decided for a task is much to hold in every future that waits for it.
        Box::pin(self.start(request, Kind::Main)).await
    }

    /// Starts one delegated task without a parent model: the limits, depth and report of a child. A request that names a
    /// task goes on with that one, if it has ended.
    pub async fn task(&self, request: TaskRequest) -> Result<Running, Failure> {
        Box::pin(self.start(request, Kind::Delegated)).await
    }

    /// Ends a task that runs in this engine, and all below it; false if none of this id does.
    pub fn stop(&self, task: TaskId) -> bool {
        self.inner.present.stop(task, Stopper::Outside)
    }

    /// Ends what was started for the remote tools of its tasks. To be called when none of them runs any more.
    pub async fn close(&self) {
        self.inner.remote_tools.close().await;
    }

    async fn start(&self, request: TaskRequest, kind: Kind) -> Result<Running, Failure> {
        let inner = &self.inner;
        inner.rules.check_prompt(&request)?;
        if kind == Kind::Delegated {
            inner.check_background(&request)?;
            inner.rules.check_depth(0)?;
        }
        if let Some(asked) = request.resume.clone() {
            return Box::pin(self.follow_up(request, &asked)).await;
        }
        let roster = inner.rosters.current();
        // A person's own prompt has been read by then.
        let request = match kind {
            Kind::Main => request,
            Kind::Delegated => roster.templates().applied(request, inner.rules.max_prompt_bytes)?,
        };
        let agents = if kind == Kind::Main { &roster.mains } else { &roster.agents };
        let serving = serving(agents, &request, kind, inner.contract.defaults().best_match)?;
        if kind == Kind::Delegated {
            let judge = inner.permissions.judge(inner.places.clone());
            let judge = judge.map_err(|error| Failure::new("grant", error.to_string()))?;
            refuse_denied(&judge, inner.contract.as_ref(), serving.definition)?;
        }
        let is_apart = request.background;
        let equipped = inner.equipped(&roster, serving.definition, (kind, None), &CancellationToken::new()).await;
        let mut task = inner.prepare(&equipped, serving, kind, request)?;
        let is_waited_for = kind == Kind::Delegated && !is_apart;
        let known = if is_waited_for { inner.known(&mut task).await } else { Known::New(None) };
        let ticket = match known {
            // Nobody is told of a start that there is not.
            Known::Done(outcome) => return Ok(Running::given_again(task.job, *outcome)),
            Known::New(ticket) => ticket,
        };
        if kind == Kind::Delegated {
            inner.check_rate()?;
        }
        task.consult_hooks().await?;
        if is_apart {
            // Whoever is told of it is told of its file, if there is one.
            task.sink.tell_in(&inner.reports, &[]);
        }
        Running::keeping(task, ticket).await.map_err(|error| Failure::new("journal", error.to_string()))
    }
}

impl Running {
    /// Starts a task that was prepared.
    pub(crate) async fn start(task: Task) -> Result<Self, JournalError> {
        Self::keeping(task, None).await
    }

    /// The same; with a ticket, its outcome is kept for later before anybody has it.
    async fn keeping(task: Task, ticket: Option<Box<Ticket>>) -> Result<Self, JournalError> {
        let (job, cancel) = (Arc::clone(&task.job), task.cancel.clone());
        let (engine, approvals) = (Arc::clone(&task.engine), Arc::clone(&task.approvals));
        let ended = task.start().await?;
        let finished = tokio::spawn(async move {
            let ended = ended.await.unwrap_or(Err(EngineError::Aborted));
            engine.keep(ticket, &approvals).await;
            ended
        });
        Ok(Self { task: job.task, job, cancel, finished })
    }

    /// A task that is not started, because another one has done the same.
    fn given_again(job: Arc<Job>, outcome: TaskOutcome) -> Self {
        let (task, cancel) = (outcome.task_id, CancellationToken::new());
        Self { task, job, cancel, finished: tokio::spawn(std::future::ready(Ok(outcome))) }
    }

    /// Ends the task and everything below it. How it ended is in the outcome. Harmless when repeated or late.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// All that was decided for the task.
    pub fn job(&self) -> Arc<Job> {
        Arc::clone(&self.job)
    }

    /// A handle that stops the task from elsewhere, e.g. from a signal.
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

impl Inner {
    pub(crate) fn sink(&self, job: &Arc<Job>, hold: Hold) -> Sink {
        Sink::new(Arc::clone(&self.journal), Arc::clone(&self.clock), Arc::clone(job), hold)
    }

    /// Decides all that there is to decide for a task without a parent, and starts nothing.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        roster: &Arc<Roster>,
        serving: Serving<'_>,
        kind: Kind,
        request: TaskRequest,
    ) -> Result<Task, Failure> {
        let asked = Asked::from(&request);
        let (config, request) = self.resolve(roster, serving, (kind, None), request)?;
        let whole_tree = Limits { max_children: Some(self.rules.max_children), ..Limits::default() };
        let account = Account::of_root(config.limits.tighter(whole_tree));
        account.check_prices(&config.model, &self.models.terms(&config.model).prices)?;
        let job = Arc::new(self.job(request, config, None));
        let sink = self.sink(&job, Hold::FIRST);
        let slot = match kind {
            Kind::Main => Slot::unlimited(Arc::clone(&account)),
            Kind::Delegated => Slot::of(Arc::clone(&self.slots), sink.clone(), Arc::clone(&account)),
        };
        Ok(Task {
            engine: Arc::clone(self),
            roster: Arc::clone(roster),
            sink,
            asked,
            job,
            account,
            cancel: CancellationToken::new(),
            slot: Arc::new(slot),
            approvals: Arc::default(),
            address: None,
            inbox: Arc::default(),
            hook_notices: Vec::new(),
            past: None,
        })
    }

    /// Counts a task that is about to be delegated, unless there have been too many of late.
    pub(crate) fn check_rate(&self) -> Result<(), Failure> {
        self.delegation_rate.count(self.rules.delegations_per_minute)
    }

    /// Whether a request may ask for work that nobody waits for.
    pub(crate) fn check_background(&self, request: &TaskRequest) -> Result<(), Failure> {
        let is_known = self.contract.defaults().companions && self.rules.background;
        if !request.background || is_known {
            return Ok(());
        }
        let message = "`run_in_background` is switched off here (`task_tool.background`); call again without it";
        Err(Failure::new("background_off", message))
    }

    /// From an agent's definition to its configuration for one task: below a parent, or without one. What should be
    /// known of the decisions is added to the request's notices.
    pub(crate) fn resolve(
        &self,
        roster: &Roster,
        Serving { definition, notice }: Serving<'_>,
        (kind, parent): (Kind, Option<&AgentConfig>),
        mut request: TaskRequest,
    ) -> Result<(AgentConfig, TaskRequest), Failure> {
        // A delegated task without a parent stands where a main agent's child would stand.
        let depth = match (kind, parent) {
            (Kind::Main, _) => 0,
            (Kind::Delegated, None) => 1,
            (Kind::Delegated, Some(parent)) => parent.depth + 1,
        };
        let defaults = self.contract.defaults();
        request.notices.extend(roster.notices().chain(notice));
        let wish = ModelWish {
            kind,
            asked: request.model.as_deref(),
            brief: &request.prompt,
            definition,
            type_default: type_default(&defaults, definition, kind),
            parents: parent.map(|parent| &parent.model).or(request.lent_model.as_ref()),
        };
        let chosen = self.rules.choose_model(self.models.as_ref(), wish)?;
        request.notices.extend(chosen.notice);
        let (max_turns, fewer_turns) = turns(definition, request.limits.max_turns, &defaults, kind);
        request.notices.extend(fewer_turns);
        request.notices.extend(undescribed(&roster.agents).filter(|_| kind == Kind::Main));
        let mut tools = tools_at(&roster.tools, self.contract.as_ref(), &self.rules, depth);
        if parent.is_none() && !self.permissions.approver.is_present() {
            // Neither a parent nor a person could answer.
            tools.retain(|tool| tool != "Ask");
        }
        let mut config = sortie_agents::resolve(Resolution {
            definition: &AgentDefinition { limits: Limits { max_turns, ..definition.limits }, ..definition.clone() },
            parent,
            root_layers: &self.permissions.layers,
            asked: request.limits,
            output_schema: request.output_schema.take(),
            default_limits: self.rules.limits(kind),
            model: chosen.choice,
            depth,
            tools: &tools,
        });
        if kind == Kind::Delegated {
            conduct(&mut config, &defaults, &request, &tools);
        }
        request.notices.extend(lowered(request.limits, config.limits));
        drop_idle(&mut config.tools, &roster.tools, self.contract.as_ref());
        config.server_tools = roster.server_tools(&config.tools);
        if kind == Kind::Main || self.rules.instructions.for_children {
            let guard = self.permissions.reading(&self.workspace);
            let guard = guard.map_err(|error| Failure::new("grant", error.to_string()))?;
            let instructions = Instructions::read(&self.workspace, &guard, &self.rules.instructions);
            let instructions = instructions.without_secrets(&self.permissions.redactor);
            config.system = instructions.after(&config.system);
            request.notices.extend(instructions.notices);
        }
        if let Some(schema) = &config.output_schema {
            config.system += &asked_for(schema)?;
        }
        Ok((config, request))
    }

    /// When a report of this agent is cut. A main agent's answer goes to a person, who can bear it whole.
    fn report_cap(&self, config: &AgentConfig) -> ReportCap {
        let defaults = self.contract.defaults();
        let own = defaults.type_of(&config.agent).and_then(|known| known.report_cap);
        if config.depth == 0 { ReportCap::None } else { own.unwrap_or(defaults.report_cap) }
    }

    /// The parcel that is run and recorded.
    pub(crate) fn job(&self, request: TaskRequest, config: AgentConfig, parent: Option<&Job>) -> Job {
        let task = self.ids.task();
        let (bytes, characters, lines, json_bytes) = match self.report_cap(&config) {
            ReportCap::None => (None, None, None, None),
            ReportCap::Bytes(bytes) => (Some(bytes), None, None, None),
            ReportCap::JsonBytes(bytes) => (None, None, None, Some(bytes)),
            ReportCap::Characters(characters) => (None, Some(characters), None, None),
            ReportCap::LinesOrBytes { lines, bytes } => (Some(bytes), None, Some(lines), None),
        };
        Job {
            task,
            parent: parent.map(|parent| parent.task),
            root: parent.map_or(task, |parent| parent.root),
            title: request.title.chars().take(MAX_TITLE_CHARS).collect(),
            prompt: request.prompt,
            workspace: self.workspace.root().display().to_string(),
            contract: self.contract.name().to_owned(),
            report_cap_bytes: bytes,
            report_cap_characters: characters,
            report_cap_lines: lines,
            report_cap_json_bytes: json_bytes,
            notices: request.notices,
            counted_percent: self.counting.percent(&config.model),
            reach: parent.map_or_else(|| self.reach(), |parent| parent.reach.clone()),
            config,
        }
    }
}
