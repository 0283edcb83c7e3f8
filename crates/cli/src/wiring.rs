//! The composition root: turns settings into the parts of an engine, and opens only what a run needs.

mod agent_folders;
pub(crate) mod agent_warnings;
pub(crate) mod hooks;
pub(crate) mod retention;
pub(crate) mod wide_workspace;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sortie_agents::{Agents, Registry};
use sortie_engine::{
    AgentFolders, Approver, DryRun, Engine, EngineParts, Hooks, MAIN_ROUTE_SETTING, Permissions, RandomIds,
    ResultCache, SystemClock, TaskKind, tool_names,
};
use sortie_journal::{Journal, SqliteJournal};
use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_llm::{Models, RouteSetup, RouteTable};
use sortie_mcp::{Chain, Connections, HostModels, Hosts, Offline, ServerGround};
use sortie_policy::Redactor;
use sortie_protocol::{Failure, TaskRequest};
use sortie_sandbox::process::{Environment, Program};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{ShellSetup, WebFetch, WebRules};

use crate::environment::{Confinement, Places, local_server};
use crate::error::long_wait::noting_long_wait;
use crate::error::{CommandError, with_causes};
use crate::settings::Settings;
use hooks::{HookGround, ProgramHooks};
use retention::{Retention, open_reports};

/// First pause before a failed MCP server is tried again.
const SERVER_REST: Duration = Duration::from_secs(2);
/// Time for a server that nobody has named for a task. Most programs on this machine start in less; the task starts
/// without those that do not.
const SERVER_GRACE: Duration = Duration::from_secs(2);

/// An engine, and the journal that its displays read.
pub(crate) struct Wired {
    pub(crate) engine: Engine,
    pub(crate) journal: Arc<dyn Journal>,
    /// Hooks to wait for before the program ends.
    pub(crate) hooks: Arc<dyn Hooks>,
    /// The agents, as the engine sees them.
    pub(crate) agents: Arc<dyn Agents>,
}

/// The project's directory.
pub(crate) fn workspace(settings: &Settings) -> Result<Arc<Workspace>, CommandError> {
    let workspace = Workspace::open(&settings.places.workspace);
    Ok(Arc::new(workspace.map_err(|error| CommandError::config(with_causes(&error)))?))
}

/// Directories that tools see: the project's, and those added to it.
pub(crate) fn seen_by_tools(settings: &Settings) -> Result<Workspace, CommandError> {
    let added = settings.added_directories()?;
    Workspace::open(&settings.places.workspace)
        .and_then(|workspace| workspace.with_directories(&added))
        .map_err(|error| CommandError::config(with_causes(&error)))
}

/// All agents: the built-in ones, and those in the folders of the user and the project.
pub(crate) fn agents(settings: &Settings) -> Result<Arc<AgentFolders>, CommandError> {
    let Places { user, foreign, .. } = &settings.places;
    let folders = agent_folders::of(user.as_deref(), foreign.as_deref(), &workspace(settings)?)?;
    Ok(Arc::new(AgentFolders::new(folders, settings.trust(), tool_names())))
}

/// The configured routes, and `offline`.
pub(crate) fn models(settings: &Settings) -> Result<RouteTable, CommandError> {
    let (routes, unusable) = settings.routes();
    let setup = RouteSetup {
        routes,
        unusable,
        aliases: settings.aliases(),
        catalogue: settings.catalogue()?,
        settings: settings.call_settings(),
    };
    RouteTable::new(setup).map_err(|error| settings.unusable(&error))
}

/// Parts of a run before anything is created: enough to refuse a request that cannot start.
pub(crate) struct Plan<'a> {
    settings: &'a Settings,
    workspace: Arc<Workspace>,
    models: RouteTable,
    agents: Arc<AgentFolders>,
    /// True if no cached result is used.
    is_anew: bool,
    /// Hosts whose models are used before `offline`, and the use of that.
    hosts: Option<(Hosts, Offline)>,
}

impl<'a> Plan<'a> {
    /// Plan of a command that lets agents work. A workspace that is far more than a project needs a person's consent.
    pub(crate) fn to_work(settings: &'a Settings) -> Result<Self, CommandError> {
        wide_workspace::ask(&settings.places)?;
        Self::new(settings)
    }

    pub(crate) fn new(settings: &'a Settings) -> Result<Self, CommandError> {
        let models = models(settings)?;
        let agents = agents(settings)?;
        let workspace = Arc::new(seen_by_tools(settings)?);
        Ok(Self { settings, workspace, models, agents, is_anew: false, hosts: None })
    }

    /// Plan that ignores cached results.
    pub(crate) fn anew(self) -> Self {
        Self { is_anew: true, ..self }
    }

    /// Plan that serves hosts, and may borrow their models.
    pub(crate) fn for_hosts(self, hosts: Hosts, offline: Offline) -> Self {
        Self { hosts: Some((hosts, offline)), ..self }
    }

    /// Retention of old tasks.
    pub(crate) fn retention(&self) -> Retention {
        Retention::new(self.settings)
    }

    /// The current agents.
    pub(crate) fn agents(&self) -> Arc<Registry> {
        self.agents.current()
    }

    /// Warnings about settings that name unknown agents.
    pub(crate) fn rules_about_nobody(&self) -> Vec<String> {
        self.settings.rules_about_nobody(&self.agents())
    }

    /// True if no model is set, so that requests that name none get `offline`.
    pub(crate) fn lacks_model(&self) -> bool {
        self.models.get(MAIN_ROUTE).or_else(|| self.models.get(LIGHT_ROUTE)).is_none()
    }

    /// Checks that the request can start. The outer error means that only the main route could serve it and cannot be
    /// used, which is not the request's fault.
    pub(crate) fn check(&self, request: &TaskRequest, kind: TaskKind) -> Result<Result<(), Failure>, CommandError> {
        let settings = self.settings;
        let (contract, rules, layers) = (settings.contract(), settings.rules(), settings.permission_layers());
        let agents = self.agents();
        let authority = DryRun { agents: &agents, contract: &contract, rules: &rules, layers: &layers, remote: &[] };
        let checked = authority.check(request, kind, &self.models);
        let Err(failure) = checked else { return Ok(checked) };
        match settings.problem_of_main() {
            Some(problem) if failure.setting == Some(MAIN_ROUTE_SETTING) => {
                let servers = local_server::servers(&settings.environment);
                Err(servers.iter().fold(problem, |problem, server| problem.hint(local_server::offer(server))))
            }
            _ => Ok(Err(settings.explained(failure))),
        }
    }

    /// Builds the engine, with an approver to ask.
    pub(crate) fn open(self, approver: Arc<dyn Approver>) -> Result<Wired, CommandError> {
        let places = &self.settings.places;
        let journal: Arc<dyn Journal> =
            Arc::new(noting_long_wait(&waiting_for(places), || SqliteJournal::open(&places.journal()))?);
        let reports = Arc::new(open_reports(&places.reports())?);
        let cache = self
            .settings
            .result_cache()
            .filter(|_| !self.is_anew)
            .map(|directory| SpillDir::open(&directory))
            .transpose();
        let cache = cache
            .map_err(|error| CommandError::storage(with_causes(&error)))?
            .map(|kept| Arc::new(ResultCache::new(kept)));
        let web = self.settings.web_rules()?;
        let permissions = permissions(self.settings, approver);
        let hooks: Arc<dyn Hooks> = Arc::new(hooks(self.settings, Arc::clone(&permissions.redactor))?);
        let models: Arc<dyn Models> = Arc::new(self.models);
        let models = match self.hosts {
            Some((hosts, offline)) => Arc::new(HostModels::new(models, hosts, offline)),
            None => models,
        };
        let agents: Arc<dyn Agents> = self.agents;
        let engine = Engine::new(EngineParts {
            journal: Arc::clone(&journal),
            models,
            workspace: Arc::clone(&self.workspace),
            agents: Arc::clone(&agents),
            contract: self.settings.contract(),
            more_tools: vec![Arc::new(WebFetch::new(web.clone()))],
            remote_tools: Arc::new(servers(self.settings, Arc::clone(&permissions.redactor))?),
            shell: Some(Arc::new(shell(self.settings, &self.workspace, &reports, web)?)),
            reports,
            cache,
            hooks: Arc::clone(&hooks),
            rules: self.settings.rules(),
            permissions,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        Ok(Wired { engine, journal, hooks, agents })
    }
}

/// Shell for commands. Nothing starts before the first command.
fn shell(
    settings: &Settings,
    workspace: &Workspace,
    spill: &Arc<SpillDir>,
    web: WebRules,
) -> Result<ShellSetup, CommandError> {
    let program = Program::this().map_err(|error| CommandError::config(with_causes(&error)))?;
    let untrusted: Vec<&Path> = workspace.added().chain([workspace.root()]).collect();
    let environment = Environment::scrubbed(settings.environment.of_the_process(), &untrusted);
    let mut setup = ShellSetup::new(program, environment, Arc::clone(spill));
    setup.unconfined = settings.confinement == Confinement::None;
    setup.open_network = settings.open_network();
    setup.web = web;
    Ok(setup)
}

/// MCP servers of others. None starts before a task that may use it.
fn servers(settings: &Settings, redactor: Arc<Redactor>) -> Result<Connections, CommandError> {
    let workspace = settings.places.workspace.clone();
    let changeable: Vec<PathBuf> = [workspace.clone()].into_iter().chain(settings.added_directories()?).collect();
    let untrusted: Vec<&Path> = changeable.iter().map(PathBuf::as_path).collect();
    let environment = Environment::scrubbed(settings.environment.of_the_process(), &untrusted);
    let (variables, logs) = (settings.server_variables(), Some(settings.places.server_logs()));
    let level = settings.environment.nesting_level();
    let chain = Chain {
        program: std::env::current_exe().ok(),
        level,
        // A task at the deepest level could not use it.
        is_allowed: settings.allows_nesting() && level < settings.rules().max_depth,
    };
    let sign_ins = settings.places.sign_ins();
    let (rest, grace) = (SERVER_REST, SERVER_GRACE);
    let ground =
        ServerGround { workspace, changeable, environment, variables, logs, sign_ins, rest, grace, chain, redactor };
    Ok(Connections::new(settings.servers(), ground))
}

/// Hook programs of the user.
fn hooks(settings: &Settings, redactor: Arc<Redactor>) -> Result<ProgramHooks, CommandError> {
    let workspace = settings.places.workspace.clone();
    let variables = settings.environment.of_the_process();
    let ground = HookGround::new(workspace, settings.added_directories()?, variables, settings.trust(), redactor);
    Ok(ProgramHooks::new(settings.hooks(), ground))
}

/// The user's part of every grant.
pub(crate) fn permissions(settings: &Settings, approver: Arc<dyn Approver>) -> Permissions {
    let (routes, _) = settings.routes();
    let keys = routes.iter().filter_map(|route| Some(route.api_key.as_ref()?.reveal().to_owned()));
    let keys = keys.chain(settings.server_secrets());
    Permissions {
        layers: settings.permission_layers(),
        approver,
        redactor: Arc::new(Redactor::new(keys.collect())),
        home: settings.environment.home(),
        own: settings.places.own(),
        private: settings.places.private(),
        secrets: settings.secret_places(),
        other_homes: settings.other_homes(),
        answer_within: settings.answer_within(),
    }
}

/// The journal, opened for reading.
pub(crate) fn journal_to_read(settings: &Settings) -> Result<SqliteJournal, CommandError> {
    let places = &settings.places;
    Ok(noting_long_wait(&waiting_for(places), || SqliteJournal::open_read_only(&places.journal()))?)
}

fn waiting_for(places: &Places) -> String {
    format!("waiting for the journal {}, which another program seems to have locked", places.journal().display())
}
