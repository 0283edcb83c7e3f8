//! The engine's front: what it is made of, and how a task without a parent is started.

pub(crate) mod host;
pub(crate) mod subagents;

use std::sync::{Arc, OnceLock};

use sortie_agents::Agents;
use sortie_contract::Contract;
use sortie_journal::Journal;
use sortie_llm::Models;
use sortie_protocol::{Failure, FailureCode, TaskId, TaskOutcome, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{ShellSetup, Tool};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::budget::start_rate::DelegationRate;
use crate::log::notes::Boards;
use crate::messages::running_task::Stopper;
use crate::ports::hooks::Hooks;
use crate::resolve::permissions::Permissions;
use crate::resolve::permissions::refuse_denied;
use crate::resolve::remote_tools::RemoteTools;
use crate::resolve::roster::Rosters;
use crate::resolve::settings::{Kind, Rules, serving};
use crate::tasks::lookup::Known;
use crate::tasks::observers::Audience;
use crate::tasks::result_cache::Cache;
use crate::tasks::resume::Resumption;
use crate::tasks::running::Running;
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
    pub(crate) state: Arc<EngineState>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts { journal, models, workspace, agents, contract, more_tools, shell, .. } = parts;
        let EngineParts { reports, cache, hooks, rules, permissions, clock, ids, remote_tools, .. } = parts;
        let rosters = Rosters::new(agents, Arc::clone(&contract), (more_tools, shell.is_some()), rules.clone());
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
        Self { state: Arc::new(state) }
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
        self.state.present.stop(task, Stopper::Outside)
    }

    /// Ends an interrupted task as cancelled, and all below it that were interrupted with it, children first. What they
    /// had written and changed is kept, and calls that were under way are answered. A parent that waits for the task is
    /// told. Tasks that have ended, and those of which the log cannot be read, are left as they are; if the task itself is
    /// one of the latter, that is the failure.
    pub async fn abandon(&self, task: TaskId) -> Result<Vec<TaskOutcome>, Failure> {
        self.state.abandon(task, None).await
    }

    /// Goes on with a task without a parent that waits for it. A failure means that nothing was changed.
    pub async fn resume(&self, task: TaskId, resumption: Resumption) -> Result<Running, Failure> {
        Box::pin(self.state.resume(task, resumption)).await
    }

    /// Ends what was started for the remote tools of its tasks. To be called when none of them runs any more.
    pub async fn close(&self) {
        self.state.remote_tools.close().await;
    }

    async fn start(&self, request: TaskRequest, kind: Kind) -> Result<Running, Failure> {
        let state = &self.state;
        state.rules.check_prompt(&request)?;
        if kind == Kind::Delegated {
            state.check_background(&request)?;
            state.rules.check_depth(0)?;
        }
        if let Some(asked) = request.resume.clone() {
            return Box::pin(state.follow_up(request, &asked)).await;
        }
        let roster = state.rosters.current();
        // A person's own prompt has been read by then.
        let request = match kind {
            Kind::Main => request,
            Kind::Delegated => roster.templates().applied(request, state.rules.max_prompt_bytes)?,
        };
        let agents = if kind == Kind::Main { &roster.mains } else { &roster.agents };
        let serving = serving(agents, &request, kind, state.contract.defaults().best_match)?;
        if kind == Kind::Delegated {
            let judge = state.permissions.judge(state.places.clone());
            let judge = judge.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
            refuse_denied(&judge, state.contract.as_ref(), serving.definition)?;
        }
        let is_apart = request.background;
        let equipped =
            state.equipping().equipped(&roster, serving.definition, (kind, None), &CancellationToken::new()).await;
        let mut task = state.prepare(&equipped, serving, kind, request)?;
        let is_waited_for = kind == Kind::Delegated && !is_apart;
        let known = if is_waited_for { state.known(&mut task).await } else { Known::New(None) };
        let ticket = match known {
            // Nobody is told of a start that there is not.
            Known::Done(outcome) => return Ok(Running::given_again(task.job, *outcome)),
            Known::New(ticket) => ticket,
        };
        if kind == Kind::Delegated {
            state.check_rate()?;
        }
        task.consult_hooks().await?;
        if is_apart {
            // Whoever is told of it is told of its file, if there is one.
            task.sink.tell_in(&state.reports, &[]);
        }
        Running::keeping(task, ticket).await.map_err(|error| Failure::new(FailureCode::Journal, error.to_string()))
    }
}
