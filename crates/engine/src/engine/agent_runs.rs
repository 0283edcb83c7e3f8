//! The entry for a library that runs sub-agents of one type: run, run in the background, resume, status, stop.
//!
//! A thin layer over the entry for hosts, with its tasks, its rules and its sight. It decides nothing.

use sortie_agents::AgentDefinition;
use sortie_protocol::{Failure, FailureCode, Launched, Limits, TaskId, TaskOutcome, TaskRequest};
use sortie_tools::{Kin, Stand};

use crate::engine::Engine;
use crate::engine::host::Host;
use crate::engine::subagents::{SubagentError, completed};
use crate::tasks::running::Running;

/// Sub-agents of one type, run for a program. Cheap to clone.
///
/// It reaches every task that programs have delegated in this workspace, whichever process started it.
#[derive(Clone)]
pub struct AgentRuns {
    host: Host,
    agent: String,
    model: Option<String>,
    limits: Limits,
    engine: Engine,
    /// Tools and role prompt, if the program sets them itself.
    tools: Option<Vec<String>>,
    prompt: Option<String>,
}

/// The status of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunStatus {
    /// It works, or waits for a slot.
    Running,
    /// Its process is gone; it can be resumed.
    Interrupted,
    /// Its newest leg has ended, completed or not.
    Ended(Box<TaskOutcome>),
}

impl AgentRuns {
    /// Fails if no agent of this name or alias can be delegated to.
    pub fn of(engine: &Engine, agent: &str) -> Result<Self, Failure> {
        let host = engine.host();
        match host.agents().get_delegable(agent) {
            Ok(known) => Ok(Self {
                agent: known.name.clone(),
                host,
                model: None,
                limits: Limits::default(),
                engine: engine.clone(),
                tools: None,
                prompt: None,
            }),
            Err(unknown) => {
                let is_broken = !unknown.absent.is_empty();
                let code = if is_broken { FailureCode::UnusableAgent } else { FailureCode::UnknownAgent };
                Err(Failure::new(code, unknown.to_string()))
            }
        }
    }

    /// Runs on this model: a route, an alias or a model id.
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// Runs within these limits. Limits in force elsewhere hold as well.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Runs with these tools instead of the type's own: names, or permission rules like `Edit(docs/**)`, which cover
    /// every tool that edits. The user's rules and the contract bind them as any others. A resumed run keeps only those
    /// that its type has as well.
    #[must_use]
    pub fn with_tools(self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { tools: Some(tools.into_iter().map(Into::into).collect()), ..self }
    }

    /// Runs with this role prompt instead of the type's own.
    #[must_use]
    pub fn with_role_prompt(self, prompt: impl Into<String>) -> Self {
        Self { prompt: Some(prompt.into()), ..self }
    }

    /// Runs a new sub-agent to its end. Dropping the future stops it. Every ending but a completed one is an error with
    /// the outcome.
    pub async fn run(&self, prompt: impl Into<String>) -> Result<TaskOutcome, SubagentError> {
        completed(self.start(self.request(prompt.into())).await?).await
    }

    /// Starts a new sub-agent, and returns its id and the file that shows its progress. It runs until it ends, even if
    /// this value is dropped.
    pub async fn run_in_background(&self, prompt: impl Into<String>) -> Result<Launched, Failure> {
        let request = TaskRequest { background: true, ..self.request(prompt.into()) };
        Ok(self.host.keep(self.start(request).await?))
    }

    /// Resumes a run to its end: an interrupted one where it stood, with or without a prompt; an ended one with a
    /// prompt. It keeps its agent, its model and its role prompt.
    pub async fn resume(&self, task: TaskId, prompt: Option<String>) -> Result<TaskOutcome, SubagentError> {
        let running = if let Some(prompt) = prompt {
            let limits = match self.status(task).await? {
                RunStatus::Ended(_) => self.limits,
                RunStatus::Running | RunStatus::Interrupted => Limits::default(),
            };
            let resume = Some(task.to_string());
            self.host.start(TaskRequest { prompt, resume, limits, ..TaskRequest::default() }).await?
        } else {
            // Fails for a task of somebody else.
            self.host.look(task).await?;
            self.host.revive(task, None).await?
        };
        completed(running).await
    }

    /// Returns the status of a run, with the outcome of an ended one.
    pub async fn status(&self, task: TaskId) -> Result<RunStatus, Failure> {
        Ok(match self.host.look(task).await?.stand {
            Stand::Waits | Stand::Works(_) | Stand::Elsewhere { .. } => RunStatus::Running,
            Stand::Interrupted => RunStatus::Interrupted,
            Stand::Ended { outcome, .. } => RunStatus::Ended(outcome),
        })
    }

    /// Stops an open run and its descendants, wherever they run, and returns when they have ended. An ended one stays
    /// as it is.
    pub async fn stop(&self, task: TaskId) -> Result<(), Failure> {
        Kin::stop(&self.host, &task.to_string()).await.map(drop)
    }

    /// Waits until all background runs of this value and its clones have ended.
    pub async fn idle(&self) {
        self.host.idle().await;
    }

    async fn start(&self, request: TaskRequest) -> Result<Running, Failure> {
        if self.tools.is_none() && self.prompt.is_none() {
            return self.host.start(request).await;
        }
        let roster = self.engine.state.rosters.current();
        let known = roster.agents.get_delegable(&self.agent);
        let known = known.map_err(|unknown| Failure::new(FailureCode::UnknownAgent, unknown.to_string()))?;
        let name_of = |rule: &String| rule.split_once('(').map_or(rule.as_str(), |(name, _)| name).to_owned();
        let is_known = |name: &String| roster.tools.get(name).is_some() || name.starts_with("mcp__");
        if let Some(unknown) = self.tools.iter().flatten().map(name_of).find(|name| !is_known(name)) {
            let known: Vec<&str> = roster.tools.names().collect();
            let message = format!("there is no tool `{unknown}`; there are {}", known.join(", "));
            return Err(Failure::new(FailureCode::InvalidArguments, message));
        }
        let definition = AgentDefinition {
            tools: self.tools.clone().or_else(|| known.tools.clone()),
            prompt: self.prompt.clone().unwrap_or_else(|| known.prompt.clone()),
            ..known.clone()
        };
        self.engine.task_as(&definition, request).await
    }

    fn request(&self, prompt: String) -> TaskRequest {
        let (agent, model) = (self.agent.clone(), self.model.clone());
        TaskRequest { title: title(&prompt), prompt, agent, model, limits: self.limits, ..TaskRequest::default() }
    }
}

/// Returns the first line of a prompt that says something.
fn title(prompt: &str) -> String {
    prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
