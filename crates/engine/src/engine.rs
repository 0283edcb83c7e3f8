//! The engine's front: what it is made of, and how a task without a parent is started.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_agents::{AgentDefinition, Resolution};
use sortie_contract::{AgentLine, Contract};
use sortie_journal::{Journal, JournalError};
use sortie_llm::Models;
use sortie_protocol::{AgentConfig, Failure, Job, Limits, TaskId, TaskOutcome, TaskRequest, ToolSpec};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Registry, TaskTool, Tool};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::rules::{Kind, Rules, choose_model, definition};
use crate::sink::Sink;
use crate::slot::Slot;
use crate::task::Task;
use crate::{Clock, Ids};

/// A title is a few words; what is longer is cut, for everybody who lists tasks.
const MAX_TITLE_CHARS: usize = 200;

/// Everything that an engine is made of.
pub struct EngineParts {
    pub journal: Arc<dyn Journal>,
    pub models: Arc<dyn Models>,
    pub workspace: Arc<Workspace>,
    pub agents: Arc<sortie_agents::Registry>,
    pub contract: Arc<dyn Contract>,
    /// Tools beside the built-in ones. One with a built-in's name takes its place.
    pub more_tools: Vec<Arc<dyn Tool>>,
    /// Where reports go that are too long to be delivered.
    pub reports: SpillDir,
    pub rules: Rules,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// A delegation engine over one workspace. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// A started task without a parent. Dropping it stops the task.
pub struct Running {
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
    pub(crate) agents: Arc<sortie_agents::Registry>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) reports: Arc<SpillDir>,
    pub(crate) rules: Rules,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) tools: Arc<Registry>,
    /// What models read of each set of tools, made once for all tasks that have the same set.
    offers: Mutex<HashMap<Vec<String>, Arc<[ToolSpec]>>>,
    pub(crate) slots: Arc<Semaphore>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts { journal, models, workspace, agents, contract, more_tools, reports, rules, clock, ids } =
            parts;
        let task_tool = Arc::new(TaskTool::new(Arc::clone(&contract), &agent_lines(&agents)));
        let tools = Arc::new(Registry::standard(Some(task_tool)).with(more_tools));
        let slots = Arc::new(Semaphore::new(rules.max_concurrent.clamp(1, Semaphore::MAX_PERMITS)));
        let (reports, offers) = (Arc::new(reports), Mutex::default());
        let inner =
            Inner { journal, models, workspace, agents, contract, reports, rules, clock, ids, tools, offers, slots };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a main agent. A failure means that nothing was started.
    pub async fn run(&self, request: TaskRequest) -> Result<Running, Failure> {
        self.start(request, Kind::Main).await
    }

    /// Starts one delegated task without a parent model: the limits, depth and report of a child.
    pub async fn task(&self, request: TaskRequest) -> Result<Running, Failure> {
        self.start(request, Kind::Delegated).await
    }

    async fn start(&self, request: TaskRequest, kind: Kind) -> Result<Running, Failure> {
        let inner = &self.inner;
        inner.rules.check_prompt(&request.prompt)?;
        let definition = definition(&inner.agents, &request.agent, kind)?;
        let config = inner.resolve(definition, kind, None, &request)?;
        let whole_tree = Limits { max_children: Some(inner.rules.max_children), ..Limits::default() };
        let account = Account::of_root(config.limits.tighter(whole_tree));
        let slot = match kind {
            Kind::Main => Slot::unlimited(),
            Kind::Delegated => Slot::of(Arc::clone(&inner.slots)),
        };
        let job = Arc::new(inner.job(request, config, None));
        let cancel = CancellationToken::new();
        let task = Task {
            engine: Arc::clone(inner),
            sink: inner.sink(&job),
            job: Arc::clone(&job),
            account,
            cancel: cancel.clone(),
            slot: Arc::new(slot),
            parent: None,
        };
        let finished = task.start().await.map_err(|error| Failure::new("journal", error.to_string()))?;
        Ok(Running { task: job.task, job, cancel, finished })
    }
}

/// The agents as the Task tool's description lists them.
pub fn agent_lines(agents: &sortie_agents::Registry) -> Vec<AgentLine> {
    let line = |agent: &AgentDefinition| AgentLine { name: agent.name.clone(), description: agent.description.clone() };
    agents.delegable().map(line).collect()
}

impl Running {
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
    pub(crate) fn sink(&self, job: &Arc<Job>) -> Sink {
        Sink::new(Arc::clone(&self.journal), Arc::clone(&self.clock), Arc::clone(job))
    }

    /// What a model reads of these tools, in this order.
    pub(crate) fn offer(&self, tools: &[String]) -> Arc<[ToolSpec]> {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let offer = offers
            .entry(tools.to_vec())
            .or_insert_with(|| tools.iter().filter_map(|tool| self.tools.spec(tool)).cloned().collect());
        Arc::clone(offer)
    }

    /// Whether a tool exists for tasks of this depth: at the depth limit nothing that delegates does.
    fn available_at(&self, depth: u32, tool: &str) -> bool {
        let delegates = self.tools.get(tool).is_some_and(|tool| tool.delegates());
        !delegates || (self.rules.delegation && depth < self.rules.max_depth)
    }

    /// From an agent's definition to its configuration for one task: below `parent`, or without one.
    pub(crate) fn resolve(
        &self,
        definition: &AgentDefinition,
        kind: Kind,
        parent: Option<&AgentConfig>,
        request: &TaskRequest,
    ) -> Result<AgentConfig, Failure> {
        // A delegated task without a parent stands where a main agent's child would stand.
        let depth = match (kind, parent) {
            (Kind::Main, _) => 0,
            (Kind::Delegated, None) => 1,
            (Kind::Delegated, Some(parent)) => parent.depth + 1,
        };
        let parents_model = parent.map(|parent| &parent.model);
        let model = choose_model(self.models.as_ref(), definition, request.model.as_deref(), parents_model)?;
        let tools: Vec<String> =
            self.tools.names().filter(|tool| self.available_at(depth, tool)).map(str::to_owned).collect();
        Ok(sortie_agents::resolve(Resolution {
            definition,
            parent,
            asked: request.limits,
            default_limits: self.rules.limits(kind),
            model,
            depth,
            tools: &tools,
        }))
    }

    /// The parcel that is run and recorded.
    pub(crate) fn job(&self, request: TaskRequest, config: AgentConfig, parent: Option<&Job>) -> Job {
        let task = self.ids.task();
        Job {
            task,
            parent: parent.map(|parent| parent.task),
            root: parent.map_or(task, |parent| parent.root),
            title: request.title.chars().take(MAX_TITLE_CHARS).collect(),
            prompt: request.prompt,
            workspace: self.workspace.root().display().to_string(),
            contract: self.contract.name().to_owned(),
            // A main agent's answer goes to a person, who can bear it whole.
            report_cap_bytes: self.contract.defaults().report_cap_bytes.filter(|_| config.depth > 0),
            notices: request.notices,
            config,
        }
    }
}
