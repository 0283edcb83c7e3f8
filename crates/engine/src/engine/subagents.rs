//! The door for a library that does its own delegating: find an agent, create a sub-agent, run it, observe them.
//!
//! A thin layer over the engine. The agents and the run are the engine's, and observers read its journal. It decides
//! nothing.

mod conversation;
mod observe;

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Finding, rank};
use sortie_protocol::{Failure, Job, Status, TaskId, TaskOutcome, TaskRequest};

pub use self::conversation::SubagentStatus;
pub use self::observe::{Observation, ObserveError, Observed, SubagentObserver};
use crate::engine::Engine;
use crate::tasks::running::Running;
use crate::tasks::scope::LaunchMode;
use crate::tasks::start::admission::admit;
use crate::tasks::start::origin::Origin;
use crate::tasks::start::prepare_at_once;
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
    /// being: an empty or too long prompt, a model that nobody knows, an agent that nobody may delegate to, one that a
    /// rule denies. It has no remote tools: to look for them takes a while, and nothing waits here.
    pub fn create(&self, configuration: &AgentDefinition, parameters: Parameters) -> Result<Subagent, Failure> {
        let state = &self.engine.state;
        let Parameters { description, prompt, subagent_type } = parameters;
        let request = TaskRequest { title: description, prompt, agent: subagent_type, ..TaskRequest::default() };
        let task = prepare_at_once(state, &Origin::Library, configuration, request)?;
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
    ///
    /// It is refused where a start hook is against it, and where too many were started of late.
    pub async fn execute(self) -> Result<String, SubagentError> {
        let admission = Box::pin(admit(self.task, &Origin::Library, LaunchMode::Foreground)).await?;
        let running = Box::pin(Running::start(admission)).await.map_err(EngineError::from)?;
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
