//! The front door of the engine: its parts, the calls that start and stop tasks, and the entries for hosts and
//! libraries.

pub(crate) mod agent_runs;
pub(crate) mod host;
pub(crate) mod subagents;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use sortie_agents::{AgentDefinition, Agents};
use sortie_contract::Contract;
use sortie_journal::Journal;
use sortie_llm::Models;
use sortie_protocol::{Failure, TaskId, TaskOutcome, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Commands, ShellSetup, Tool};
use tokio::sync::Semaphore;

use crate::budget::start_rate::StartRate;
use crate::engine::host::Host;
use crate::log::notes::NoteBoards;
use crate::messages::running_task::StoppedBy;
use crate::ports::failure::journal_failure;
use crate::ports::hooks::Hooks;
use crate::resolve::permissions::Permissions;
use crate::resolve::remote_tools::RemoteTools;
use crate::resolve::roster::Rosters;
use crate::resolve::settings::EngineSettings;
use crate::tasks::observers::Audience;
use crate::tasks::result_cache::ResultCache;
use crate::tasks::resume::end_interrupted::abandon;
use crate::tasks::resume::{Resumption, resume};
use crate::tasks::running::Running;
use crate::tasks::scope::LaunchMode;
use crate::tasks::start::admission::admit;
use crate::tasks::start::check::AgentChoice;
use crate::tasks::start::origin::Origin;
use crate::tasks::start::prepare;
use crate::tasks::state::EngineState;
use crate::{Clock, Ids};

/// Everything that an engine is made of.
pub struct EngineParts {
    pub journal: Arc<dyn Journal>,
    pub models: Arc<dyn Models>,
    pub workspace: Arc<Workspace>,
    pub agents: Arc<dyn Agents>,
    pub contract: Arc<dyn Contract>,
    /// Tools besides the built-in ones. A tool with a built-in's name replaces it.
    pub more_tools: Vec<Arc<dyn Tool>>,
    /// Tools of other people's servers, found when a task starts.
    pub remote_tools: Arc<dyn RemoteTools>,
    /// Setup for commands; `None` if no task runs any.
    pub shell: Option<Arc<ShellSetup>>,
    /// Directory for reports that are too long to deliver.
    pub reports: Arc<SpillDir>,
    /// Result cache; `None` if results are not reused.
    pub cache: Option<Arc<ResultCache>>,
    /// Users' own programs that hear of tasks.
    pub hooks: Arc<dyn Hooks>,
    pub rules: EngineSettings,
    pub permissions: Permissions,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// A delegation engine over one workspace. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) state: Arc<EngineState>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts { journal, models, workspace, agents, contract, more_tools, shell, .. } = parts;
        let EngineParts { reports, cache, hooks, rules, permissions, clock, ids, remote_tools, .. } = parts;
        let commands = if shell.is_some() { Commands::Offered } else { Commands::Absent };
        let rosters = Rosters::new(agents, Arc::clone(&contract), more_tools, commands, rules.clone());
        let slots = Arc::new(Semaphore::new(rules.max_concurrent.clamp(1, Semaphore::MAX_PERMITS)));
        let places = permissions.places(&workspace);
        let state = EngineState {
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
            approval_queue: Arc::default(),
            clock,
            ids,
            slots,
            delegation_rate: StartRate::default(),
            counting: Arc::default(),
            audience: Audience::default(),
            present: Arc::default(),
            note_boards: NoteBoards::default(),
            cache,
            hooks,
        };
        Self { state: Arc::new(state) }
    }

    /// Starts a main agent. A failure means that nothing was started.
    pub async fn run(&self, request: TaskRequest) -> Result<Running, Failure> {
        // Boxed, because the decisions about a task are large. A request that resumes a task is not a person's own, so
        // rules and rates apply.
        let origin = if request.resume.is_some() { Origin::Host { depth: 0 } } else { Origin::Person };
        Box::pin(self.start(&origin, request)).await
    }

    /// Starts one delegated task without a parent model: with the limits, depth and report of a child. A request that
    /// names a task resumes it, if it has ended.
    pub async fn task(&self, request: TaskRequest) -> Result<Running, Failure> {
        self.task_after(request, |_| ()).await
    }

    /// Stops a task of this engine and all its descendants; false if it does not run here.
    pub fn stop(&self, task: TaskId) -> bool {
        self.state.present.stop(task, StoppedBy::Outside)
    }

    /// Interrupts all tasks of this engine: work stops where it is, as in a crash, and no ending is recorded. Each
    /// outcome is [`Status::Interrupted`](sortie_protocol::Status::Interrupted), with everything so far. A resume
    /// continues the tasks. Returns once they and their commands are gone.
    pub async fn interrupt(&self) {
        self.state.present.interrupt(|_| true).await;
        if let Some(shell) = &self.state.shell {
            shell.idle().await;
        }
    }

    /// Ends an interrupted task as cancelled, together with its interrupted descendants, children first. Their text and
    /// changes are kept, calls under way are answered, and a waiting parent gets the report. Ended tasks stay as they
    /// are, and so do those whose logs cannot be read. It fails if the task itself cannot be read.
    pub async fn abandon(&self, task: TaskId) -> Result<Vec<TaskOutcome>, Failure> {
        abandon(&self.state, task, None).await
    }

    /// Resumes a task for which no parent waits. A failure means that nothing was changed.
    pub async fn resume(&self, task: TaskId, resumption: Resumption) -> Result<Running, Failure> {
        Box::pin(resume(&self.state, task, resumption)).await
    }

    /// Returns an entry for a host, which delegates to this engine from outside.
    pub fn host(&self) -> Host {
        Host::of(self.clone())
    }

    /// Closes the remote tools of its tasks. Call this when no task runs any more.
    pub async fn close(&self) {
        self.state.remote_tools.close().await;
    }

    /// Starts one delegated task with this configuration of its agent. The prompt is taken word for word.
    pub(crate) async fn task_as(&self, agent: &AgentDefinition, request: TaskRequest) -> Result<Running, Failure> {
        Box::pin(self.start_with(&Origin::Host { depth: 0 }, AgentChoice::Made(agent), request)).await
    }

    async fn start(&self, origin: &Origin<'_>, request: TaskRequest) -> Result<Running, Failure> {
        self.start_with(origin, AgentChoice::Named, request).await
    }

    async fn start_with(
        &self,
        origin: &Origin<'_>,
        choice: AgentChoice<'_>,
        request: TaskRequest,
    ) -> Result<Running, Failure> {
        self.start_after(origin, choice, request, |_| ()).await
    }

    /// Starts one delegated task. `before` hears its id before anything of it runs.
    pub(crate) async fn task_after(
        &self,
        request: TaskRequest,
        before: impl FnOnce(TaskId) + Send,
    ) -> Result<Running, Failure> {
        // No more levels than are left, whatever the depth limit here.
        let levels = request.levels.unwrap_or(u32::MAX);
        let depth = self.state.rules.max_depth.saturating_sub(levels);
        Box::pin(self.start_after(&Origin::Host { depth }, AgentChoice::Named, request, before)).await
    }

    async fn start_after(
        &self,
        origin: &Origin<'_>,
        choice: AgentChoice<'_>,
        request: TaskRequest,
        before: impl FnOnce(TaskId) + Send,
    ) -> Result<Running, Failure> {
        let mode = LaunchMode::of(&request);
        let task = prepare(&self.state, origin, choice, request).await?;
        before(task.job.task);
        Running::start(admit(task, origin, mode).await?).await.map_err(journal_failure)
    }
}
