//! Sub-agents for a host that does its own delegating: which there are, which one suits, one of them at work, and
//! observers of all that are.
//!
//! A thin layer over the engine, for hosts that were written against document 001: the agents are the engine's, the
//! run is the engine's, and what observers hear is read from its journal. It decides nothing.

mod conversation;
mod observe;

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Finding, rank};
use sortie_protocol::{Failure, FailureCode, Job, Status, TaskId, TaskOutcome, TaskRequest};

pub use self::conversation::SubagentStatus;
pub use self::observe::{Observation, ObserveError, Observed, SubagentObserver};
use crate::engine::Engine;
use crate::resolve::settings::{Kind, Serving};
use crate::tasks::running::Running;
use crate::tasks::state::EngineError;
use crate::tasks::task::Task;

/// The sub-agents of one engine, as its contract has them.
#[derive(Clone)]
pub struct Subagents {
    engine: Engine,
}

/// What agents there are, and what is wrong with the files of those that there are not.
#[derive(Debug, Clone)]
pub struct Configurations {
    pub agents: Vec<AgentDefinition>,
    pub findings: Vec<Finding>,
}

/// What the one who delegates says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// A few words for lists and displays.
    pub description: String,
    /// The whole brief. The sub-agent sees nothing else of the one who delegates.
    pub prompt: String,
    /// The agent that was asked for. Another one may serve.
    pub subagent_type: String,
}

/// One sub-agent with an id and a clean context of its own, not yet at work. Dropping it leaves no trace.
pub struct Subagent {
    task: Task,
}

/// Why there is no final text.
#[derive(Debug, thiserror::Error)]
pub enum SubagentError {
    /// It ran and did not complete. What there was of its text is in the outcome.
    #[error("`{}` ended {}{}", .0.agent, .0.status, because(.0))]
    Ended(Box<TaskOutcome>),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Subagents {
    pub fn of(engine: Engine) -> Self {
        Self { engine }
    }

    /// The agents as they are now.
    pub fn load(&self) -> Configurations {
        let roster = self.engine.state.rosters.current();
        Configurations {
            agents: roster.agents.delegable().cloned().collect(),
            findings: roster.agents.findings().to_vec(),
        }
    }

    /// The agent of this name: exactly, else by alias, ignoring case.
    pub fn find(&self, name: &str) -> Option<AgentDefinition> {
        self.engine.state.rosters.current().agents.get_delegable(name).ok().cloned()
    }

    /// The agent whose name and description suit this text best, if one does. The same text, the same agent.
    pub fn best_match(&self, description: &str) -> Option<AgentDefinition> {
        let roster = self.engine.state.rosters.current();
        rank(&roster.agents, description).best().map(|best| best.agent.clone())
    }

    /// Makes a sub-agent of this configuration, whichever was asked for. A failure means that it cannot come into
    /// being: an empty or too long prompt, a model that nobody knows, an agent that nobody may delegate to, too many of
    /// late. It has no remote tools: to look for them takes a while, and nothing waits here.
    pub fn create(&self, configuration: &AgentDefinition, parameters: Parameters) -> Result<Subagent, Failure> {
        let state = &self.engine.state;
        let Parameters { description, prompt, subagent_type } = parameters;
        let request = TaskRequest { title: description, prompt, agent: subagent_type, ..TaskRequest::default() };
        state.rules.check_prompt(&request)?;
        state.rules.check_depth(0)?;
        let roster = state.rosters.current();
        let name = &configuration.name;
        if !configuration.delegable {
            return Err(Failure::new(FailureCode::UnknownAgent, format!("`{name}` is no agent to delegate to")));
        }
        let is_meant = roster.agents.get_delegable(&request.agent).is_ok_and(|meant| meant.name == *name);
        let notice = (!is_meant).then(|| format!("asked for was `{}`; `{name}` serves", request.agent));
        let serving = Serving { definition: configuration, notice };
        let task = state.prepare(&roster, serving, Kind::Delegated, request)?;
        state.check_rate()?;
        Ok(Subagent { task })
    }

    /// Tells an observer of every sub-agent in every run of the engine that starts from now on, whoever starts it.
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

    /// All that was decided for it.
    pub fn job(&self) -> Arc<Job> {
        Arc::clone(&self.task.job)
    }

    /// Runs it to its end and returns its final text. Dropping the future stops it.
    pub async fn execute(self) -> Result<String, SubagentError> {
        let running = Box::pin(Running::start(self.task)).await.map_err(EngineError::from)?;
        let outcome = running.outcome().await?;
        match outcome.status {
            Status::Completed => Ok(outcome.text),
            _ => Err(SubagentError::Ended(Box::new(outcome))),
        }
    }
}

fn because(outcome: &TaskOutcome) -> String {
    match (&outcome.error, outcome.reason) {
        (Some(error), _) => format!(": {error}"),
        (None, Some(limit)) => format!(": the {limit} limit was reached"),
        (None, None) => String::new(),
    }
}
