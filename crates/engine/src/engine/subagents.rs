//! The entry for a library that does its own delegating: find an agent, create a sub-agent, run it, observe them.
//!
//! A thin layer over the engine. The agents and the run are the engine's, and observers read its journal. It decides
//! nothing.

mod conversation;
mod observe;

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Finding, rank};
use sortie_protocol::{Failure, Job, Limit, Status, TaskId, TaskOutcome, TaskRequest};

pub use self::conversation::SubagentStatus;
pub use self::observe::{Observation, ObserveError, Observed, SubagentObserver};
use crate::engine::Engine;
use crate::tasks::running::Running;
use crate::tasks::scope::LaunchMode;
use crate::tasks::start::admission::admit;
use crate::tasks::start::check::AgentChoice;
use crate::tasks::start::origin::Origin;
use crate::tasks::start::prepare;
use crate::tasks::state::EngineError;
use crate::tasks::task::Task;

/// The sub-agents of one engine, as its contract has them.
#[derive(Clone)]
pub struct Subagents {
    engine: Engine,
}

/// All agents, and the problems of broken agent files.
#[derive(Debug, Clone)]
pub struct Configurations {
    pub agents: Vec<AgentDefinition>,
    pub findings: Vec<Finding>,
}

/// Parameters from the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// A few words for lists and displays.
    pub description: String,
    /// The whole brief, which the prompt of the execution may replace. The sub-agent sees nothing else of its caller.
    pub prompt: String,
    /// The requested agent. Another one may serve.
    pub subagent_type: String,
}

/// One sub-agent with an id and a clean context of its own, not yet at work. Dropping it leaves no trace.
pub struct Subagent {
    configuration: AgentDefinition,
    request: TaskRequest,
    task: Task,
}

/// The reason why there is no final text.
#[derive(Debug, thiserror::Error)]
pub enum SubagentError {
    /// It ran and did not complete. The outcome has the text that there was.
    #[error("`{}` ended {}{}", .0.agent, .0.status, because(.0))]
    Ended(Box<TaskOutcome>),
    /// It was not started.
    #[error(transparent)]
    Refused(#[from] Failure),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Subagents {
    pub fn of(engine: Engine) -> Self {
        Self { engine }
    }

    /// Returns the present agents.
    pub fn load(&self) -> Configurations {
        let roster = self.engine.state.rosters.current();
        Configurations {
            agents: roster.agents.delegable().cloned().collect(),
            findings: roster.agents.findings().to_vec(),
        }
    }

    /// Returns the agent of this name: an exact match, else an alias, ignoring case.
    pub fn find(&self, name: &str) -> Option<AgentDefinition> {
        self.engine.state.rosters.current().agents.get_delegable(name).ok().cloned()
    }

    /// Returns the agent whose name and description fit this text best, if any. The same text always finds the same
    /// agent.
    pub fn best_match(&self, description: &str) -> Option<AgentDefinition> {
        let roster = self.engine.state.rosters.current();
        rank(&roster.agents, description).best().map(|best| best.agent.clone())
    }

    /// Creates a sub-agent of this configuration, whichever type was requested, with the tools of its MCP servers. It
    /// waits until these servers are ready, as long as the settings allow.
    ///
    /// Fails for an empty or too long prompt, an unknown model, and an agent that may not be delegated to or that a
    /// rule denies. If the contract says so, a tool that the agent names and would not get is an error too.
    pub async fn create(&self, configuration: &AgentDefinition, parameters: Parameters) -> Result<Subagent, Failure> {
        let Parameters { description, prompt, subagent_type } = parameters;
        let request = TaskRequest { title: description, prompt, agent: subagent_type, ..TaskRequest::default() };
        let origin = Origin::Library { task: self.engine.state.ids.task() };
        let task = self.prepare(&origin, configuration, request.clone()).await?;
        Ok(Subagent { configuration: configuration.clone(), request, task })
    }

    /// Runs a sub-agent with this prompt to its end, and returns its final text. Dropping the future stops it.
    ///
    /// Fails as [`Self::create`] does, if the prompt is another one than there. Fails also if a start hook vetoes it,
    /// or if too many were started in the last minute.
    pub async fn execute(&self, subagent: Subagent, prompt: impl Into<String>) -> Result<String, SubagentError> {
        let Subagent { configuration, request, task } = subagent;
        let (prompt, origin) = (prompt.into(), Origin::Library { task: task.job.task });
        let task = if prompt == request.prompt {
            task
        } else {
            self.prepare(&origin, &configuration, TaskRequest { prompt, ..request }).await?
        };
        let admission = Box::pin(admit(task, &origin, LaunchMode::Foreground)).await?;
        completed(Box::pin(Running::start(admission)).await.map_err(EngineError::from)?)
            .await
            .map(|outcome| outcome.text)
    }

    async fn prepare(
        &self,
        origin: &Origin<'_>,
        configuration: &AgentDefinition,
        request: TaskRequest,
    ) -> Result<Task, Failure> {
        Box::pin(prepare(&self.engine.state, origin, AgentChoice::Made(configuration), request)).await
    }

    /// Notifies an observer of every sub-agent in every run of this engine that starts from now on.
    ///
    /// It blocks for one look at the journal.
    pub fn observe<O: SubagentObserver>(&self, observer: O) -> Result<Observation<O>, ObserveError> {
        Observation::start(Arc::clone(&self.engine.state.journal), &self.engine.state.audience, observer)
    }
}

impl Subagent {
    pub fn id(&self) -> TaskId {
        self.task.job.task
    }

    /// Returns the job with all decisions about it.
    pub fn job(&self) -> Arc<Job> {
        Arc::clone(&self.task.job)
    }
}

/// Waits for a completed outcome.
pub(super) async fn completed(running: Running) -> Result<TaskOutcome, SubagentError> {
    let outcome = running.outcome().await?;
    match outcome.status {
        Status::Completed => Ok(outcome),
        _ => Err(SubagentError::Ended(Box::new(outcome))),
    }
}

fn because(outcome: &TaskOutcome) -> String {
    match (&outcome.error, outcome.reason) {
        (Some(error), _) => format!(": {error}"),
        (None, Some(limit @ Limit::NoAnswer)) => format!(": {}", limit.clause()),
        (None, Some(limit)) => format!(": the {limit} limit was reached"),
        (None, None) => String::new(),
    }
}
