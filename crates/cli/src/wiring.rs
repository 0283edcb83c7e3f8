//! The composition root: settings become the parts of an engine. Nothing is opened that the run does not need.

use std::error::Error;
use std::sync::Arc;

use sortie_agents::Registry;
use sortie_contract::{Contract, Sortie};
use sortie_engine::{Engine, EngineParts, Kind, RandomIds, SystemClock, preflight};
use sortie_journal::{Journal, SqliteJournal};
use sortie_llm::RouteTable;
use sortie_protocol::{Failure, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};

use crate::error::CommandError;
use crate::patience::patiently;
use crate::settings::{Places, Settings};

/// An engine, and the journal that its displays read.
pub(crate) struct Wired {
    pub(crate) engine: Engine,
    pub(crate) journal: Arc<dyn Journal>,
}

/// The agents that there are.
pub(crate) fn agents() -> Registry {
    Registry::builtin()
}

/// The dialect in which tasks are asked for and answered.
pub(crate) fn contract() -> Arc<dyn Contract> {
    Arc::new(Sortie)
}

/// What a run is made of before anything is opened or made: enough to refuse a request that cannot be started.
pub(crate) struct Plan<'a> {
    settings: &'a Settings,
    models: RouteTable,
    agents: Registry,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Result<Self, CommandError> {
        let route = settings.main_route()?;
        let models =
            RouteTable::new(route, settings.call_settings()).map_err(|error| CommandError::config(chain(&error)))?;
        Ok(Self { settings, models, agents: agents() })
    }

    /// Whether the request can be started.
    pub(crate) fn check(&self, request: &TaskRequest, kind: Kind) -> Result<(), Failure> {
        preflight(request, kind, &self.agents, &self.models, &self.settings.rules())
    }

    /// Puts the engine together.
    pub(crate) fn open(self) -> Result<Wired, CommandError> {
        let places = &self.settings.places;
        let workspace = Workspace::open(&places.workspace).map_err(|error| CommandError::config(chain(&error)))?;
        let journal: Arc<dyn Journal> =
            Arc::new(patiently(&waiting_for(places), || SqliteJournal::open(&places.journal()))?);
        let reports = SpillDir::open(&places.reports()).map_err(|error| CommandError::config(chain(&error)))?;
        let engine = Engine::new(EngineParts {
            journal: Arc::clone(&journal),
            models: Arc::new(self.models),
            workspace: Arc::new(workspace),
            agents: Arc::new(self.agents),
            contract: contract(),
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
