//! The front door of the engine: its parts, the calls that start and stop tasks, and the doors for hosts.

pub(crate) mod host;
pub(crate) mod subagents;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use sortie_agents::Agents;
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
    /// Tools beside the built-in ones. One with a built-in's name takes its place.
    pub more_tools: Vec<Arc<dyn Tool>>,
    /// Tools of others' servers, which are found when a task starts.
    pub remote_tools: Arc<dyn RemoteTools>,
    /// How commands are run; `None` where nobody has any.
    pub shell: Option<Arc<ShellSetup>>,
    /// Where reports go that are too long to be delivered.
    pub reports: Arc<SpillDir>,
    /// Which task has answered what; `None` where results are not given again.
    pub cache: Option<Arc<ResultCache>>,
    /// Users' own programs that are told of tasks.
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
        // All that is decided for a task is much to hold in every future that waits for it.
        // A request that resumes a task is no person's own: rules and rates hold for it.
        let origin = if request.resume.is_some() { Origin::Host } else { Origin::Person };
        Box::pin(self.start(&origin, request)).await
    }

    /// Starts one delegated task without a parent model: the limits, depth and report of a child. A request that names
    /// a task goes on with that one, if it has ended.
    pub async fn task(&self, request: TaskRequest) -> Result<Running, Failure> {
        Box::pin(self.start(&Origin::Host, request)).await
    }

    /// Ends a task that runs in this engine, and all below it; false if none of this id does.
    pub fn stop(&self, task: TaskId) -> bool {
        self.state.present.stop(task, StoppedBy::Outside)
    }

    /// Ends an interrupted task as cancelled, and all below it that were interrupted with it, children first. What they
    /// had written and changed is kept, and calls that were under way are answered. A parent that waits for the task is
    /// told. Tasks that have ended, and those of which the log cannot be read, are left as they are; if the task itself
    /// is one of the latter, that is the failure.
    pub async fn abandon(&self, task: TaskId) -> Result<Vec<TaskOutcome>, Failure> {
        abandon(&self.state, task, None).await
    }

    /// Goes on with a task without a parent that waits for it. A failure means that nothing was changed.
    pub async fn resume(&self, task: TaskId, resumption: Resumption) -> Result<Running, Failure> {
        Box::pin(resume(&self.state, task, resumption)).await
    }

    /// Somebody from outside who delegates to this engine.
    pub fn host(&self) -> Host {
        Host::of(self.clone())
    }

    /// Ends what was started for the remote tools of its tasks. To be called when none of them runs any more.
    pub async fn close(&self) {
        self.state.remote_tools.close().await;
    }

    async fn start(&self, origin: &Origin<'_>, request: TaskRequest) -> Result<Running, Failure> {
        let mode = LaunchMode::of(&request);
        let task = prepare(&self.state, origin, request).await?;
        Running::start(admit(task, origin, mode).await?).await.map_err(journal_failure)
    }
}
