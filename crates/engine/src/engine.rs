//! The engine's front: what it is made of, and how a task without a parent is started.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sortie_agents::{AgentDefinition, Resolution};
use sortie_contract::{AgentLine, Contract};
use sortie_journal::{Journal, JournalError};
use sortie_llm::Models;
use sortie_protocol::{AgentConfig, Fact, Failure, Job, Limits, TaskId, TaskOutcome, TaskRequest, ToolSpec};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Registry, TaskTool, Tool};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::brood::Brood;
use crate::delegate::delegated_limits;
use crate::sink::Sink;
use crate::slot::Slot;
use crate::task::Task;
use crate::{Clock, Ids};

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

/// What holds for all tasks of one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Whether agents may delegate at all.
    pub delegation: bool,
    /// A task of this depth cannot delegate. A main agent has depth 0.
    pub max_depth: u32,
    /// Delegated tasks that work at the same time; more wait in order.
    pub max_concurrent: usize,
    /// Tasks that one tree may start.
    pub max_children: u32,
    /// Of delegated tasks; a main agent has none unless asked for.
    pub default_timeout: Duration,
    /// Of every delegated task with its descendants.
    pub max_tokens: Option<u64>,
    pub max_prompt_bytes: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            delegation: true,
            max_depth: 2,
            max_concurrent: 20,
            max_children: 200,
            default_timeout: Duration::from_mins(5),
            max_tokens: None,
            max_prompt_bytes: 1 << 20,
        }
    }
}

/// A delegation engine over one workspace. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// A started task without a parent. Dropping it stops the task.
pub struct Running {
    pub task: TaskId,
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
        let lines: Vec<AgentLine> = agents
            .delegable()
            .map(|agent| AgentLine { name: agent.name.clone(), description: agent.description.clone() })
            .collect();
        let task_tool = Arc::new(TaskTool::new(Arc::clone(&contract), &lines));
        let tools = Arc::new(Registry::standard(Some(task_tool)).with(more_tools));
        let slots = Arc::new(Semaphore::new(rules.max_concurrent.clamp(1, Semaphore::MAX_PERMITS)));
        let (reports, offers) = (Arc::new(reports), Mutex::default());
        let inner =
            Inner { journal, models, workspace, agents, contract, reports, rules, clock, ids, tools, offers, slots };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a main agent. A failure means that nothing was started.
    pub async fn run(&self, request: TaskRequest) -> Result<Running, Failure> {
        let definition = self.inner.agents.get(&request.agent).map_err(|error| unknown_agent(&error))?;
        let config = self.inner.resolve(definition, None, request.model.as_deref(), request.limits)?;
        self.start(request, config, Arc::new(Slot::unlimited()), None).await
    }

    /// Starts one delegated task without a parent model: the limits, depth and report of a child.
    pub async fn task(&self, request: TaskRequest) -> Result<Running, Failure> {
        let definition = self.inner.agents.get_delegable(&request.agent).map_err(|error| unknown_agent(&error))?;
        let limits = delegated_limits(self.inner.rules.default_timeout, self.inner.rules.max_tokens);
        let asked = limits.tighter(request.limits);
        let mut config = self.inner.resolve(definition, None, request.model.as_deref(), asked)?;
        config.depth = 1;
        config.tools.retain(|tool| self.inner.available_at(config.depth, tool));
        let slot = Slot::of(Arc::clone(&self.inner.slots));
        self.start(request, config, Arc::new(slot), self.inner.contract.defaults().report_cap_bytes).await
    }

    async fn start(
        &self,
        request: TaskRequest,
        config: AgentConfig,
        slot: Arc<Slot>,
        report_cap: Option<usize>,
    ) -> Result<Running, Failure> {
        self.inner.check_prompt(&request.prompt)?;
        let id = self.inner.ids.task();
        let job = Arc::new(Job {
            task: id,
            parent: None,
            root: id,
            title: request.title,
            prompt: request.prompt,
            workspace: self.inner.workspace.root().display().to_string(),
            config,
        });
        let sink = self.inner.sink(&job);
        let started = Fact::TaskStarted { job: Box::new(Job::clone(&job)) };
        sink.append(started).await.map_err(|error| Failure::new("journal", error.to_string()))?;
        let max_children = job
            .config
            .limits
            .max_children
            .map_or(self.inner.rules.max_children, |asked| asked.min(self.inner.rules.max_children));
        let brood = Brood::of_root(max_children);
        let cancel = CancellationToken::new();
        let task = Task {
            engine: Arc::clone(&self.inner),
            brood,
            job,
            sink,
            cancel: cancel.clone(),
            slot,
            parents_deadline: None,
            notices: request.notices,
            report_cap,
        };
        Ok(Running { task: id, cancel, finished: task.spawn() })
    }
}

impl Running {
    /// Ends the task and everything below it. How it ended is in the outcome. Harmless when repeated or late.
    pub fn stop(&self) {
        self.cancel.cancel();
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

    pub(crate) fn check_prompt(&self, prompt: &str) -> Result<(), Failure> {
        if prompt.trim().is_empty() {
            return Err(Failure::new("empty_prompt", "the prompt is empty; say what is to be done"));
        }
        let (size, max) = (prompt.len(), self.rules.max_prompt_bytes);
        if size > max {
            let message = format!("the prompt has {size} bytes; the limit is {max} (`task_tool.max_prompt_bytes`)");
            return Err(Failure::new("prompt_too_long", message));
        }
        Ok(())
    }

    /// From an agent's definition to its configuration for one task: below `parent`, or without one.
    pub(crate) fn resolve(
        &self,
        definition: &AgentDefinition,
        parent: Option<&AgentConfig>,
        asked_model: Option<&str>,
        asked: Limits,
    ) -> Result<AgentConfig, Failure> {
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        let asked_model = asked_model.or(definition.model.as_deref());
        let model = self
            .models
            .choose(asked_model, parent.map(|parent| &parent.model))
            .map_err(|error| Failure::new("unknown_model", error.to_string()))?;
        let default_limits = match parent {
            Some(_) => delegated_limits(self.rules.default_timeout, self.rules.max_tokens),
            None => Limits::default(),
        };
        let tools: Vec<String> =
            self.tools.names().filter(|tool| self.available_at(depth, tool)).map(str::to_owned).collect();
        Ok(sortie_agents::resolve(Resolution {
            definition,
            parent,
            asked,
            default_limits,
            model,
            depth,
            tools: &tools,
        }))
    }
}

fn unknown_agent(error: &sortie_agents::UnknownAgent) -> Failure {
    Failure::new("unknown_agent", error.to_string())
}
