//! The composition root: settings become the parts of an engine. Nothing is opened that the run does not need.

mod folders;

use std::error::Error;
use std::sync::Arc;

use sortie_agents::{Agents, Registry};
use sortie_engine::{AgentFolders, Engine, EngineParts, Kind, RandomIds, SystemClock, preflight, tool_names};
use sortie_journal::{Journal, SqliteJournal};
use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_llm::{Models as _, RouteSetup, RouteTable};
use sortie_protocol::{Failure, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};

use crate::error::CommandError;
use crate::local;
use crate::patience::patiently;
use crate::settings::{Places, Settings};

/// An engine, and the journal that its displays read.
pub(crate) struct Wired {
    pub(crate) engine: Engine,
    pub(crate) journal: Arc<dyn Journal>,
}

/// The directory that tools see.
pub(crate) fn workspace(settings: &Settings) -> Result<Arc<Workspace>, CommandError> {
    let workspace = Workspace::open(&settings.places.workspace);
    Ok(Arc::new(workspace.map_err(|error| CommandError::config(chain(&error)))?))
}

/// The agents that there are: the built-in ones, and those in the folders of the user and the project.
pub(crate) fn agents(settings: &Settings) -> Result<Arc<AgentFolders>, CommandError> {
    agents_within(settings, &workspace(settings)?)
}

fn agents_within(settings: &Settings, workspace: &Arc<Workspace>) -> Result<Arc<AgentFolders>, CommandError> {
    let folders = folders::of(&settings.places, workspace)?;
    Ok(Arc::new(AgentFolders::new(folders, settings.trust(), tool_names())))
}

/// The routes that are set, and `offline`.
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

/// What a run is made of before anything is made for it: enough to refuse a request that cannot be started.
pub(crate) struct Plan<'a> {
    settings: &'a Settings,
    workspace: Arc<Workspace>,
    models: RouteTable,
    agents: Arc<AgentFolders>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Result<Self, CommandError> {
        let models = models(settings)?;
        let workspace = workspace(settings)?;
        let agents = agents_within(settings, &workspace)?;
        Ok(Self { settings, workspace, models, agents })
    }

    /// The agents of this moment.
    pub(crate) fn agents(&self) -> Arc<Registry> {
        self.agents.current()
    }

    /// Whether nobody set a model, so that whoever asks for none gets `offline`.
    pub(crate) fn lacks_model(&self) -> bool {
        self.models.get(MAIN_ROUTE).or_else(|| self.models.get(LIGHT_ROUTE)).is_none()
    }

    /// Whether the request can be started. The outer error means that only the main route could serve it and cannot be
    /// used, which is no fault of the request.
    pub(crate) fn check(&self, request: &TaskRequest, kind: Kind) -> Result<Result<(), Failure>, CommandError> {
        let settings = self.settings;
        let checked =
            preflight(request, kind, &self.agents(), &self.models, settings.contract().as_ref(), &settings.rules());
        let Err(failure) = checked else { return Ok(checked) };
        let without_main = self.models.choose(None, None).err().map(|error| error.to_string());
        match settings.problem_of_main() {
            Some(problem) if without_main.is_some_and(|said| failure.message.ends_with(&said)) => {
                let servers = local::servers(&settings.environment);
                Err(servers.iter().fold(problem, |problem, server| problem.hint(local::offer(server))))
            }
            _ => Ok(Err(settings.explained(failure))),
        }
    }

    /// Puts the engine together.
    pub(crate) fn open(self) -> Result<Wired, CommandError> {
        let places = &self.settings.places;
        let journal: Arc<dyn Journal> =
            Arc::new(patiently(&waiting_for(places), || SqliteJournal::open(&places.journal()))?);
        let reports = SpillDir::open(&places.reports()).map_err(|error| CommandError::config(chain(&error)))?;
        let engine = Engine::new(EngineParts {
            journal: Arc::clone(&journal),
            models: Arc::new(self.models),
            workspace: self.workspace,
            agents: self.agents,
            contract: self.settings.contract(),
            more_tools: Vec::new(),
            reports,
            rules: self.settings.rules(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        Ok(Wired { engine, journal })
    }
}

/// The journal as it is, to be read.
pub(crate) fn journal_to_read(settings: &Settings) -> Result<SqliteJournal, CommandError> {
    let places = &settings.places;
    Ok(patiently(&waiting_for(places), || SqliteJournal::open_read_only(&places.journal()))?)
}

fn waiting_for(places: &Places) -> String {
    format!("waiting for the journal {}, which another program seems to keep locked", places.journal().display())
}

/// An error with its causes, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
