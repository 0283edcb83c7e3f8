//! The composition root: settings become the parts of an engine. Nothing is opened that the run does not need.

use std::error::Error;
use std::sync::Arc;

use sortie_agents::Registry;
use sortie_contract::{AgentLine, Contract, Sortie};
use sortie_engine::{Engine, EngineParts, RandomIds, SystemClock};
use sortie_journal::{Journal, SqliteJournal};
use sortie_llm::RouteTable;
use sortie_sandbox::{SpillDir, Workspace};

use crate::error::CommandError;
use crate::settings::Settings;

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

/// The agents as the Task tool lists them.
pub(crate) fn agent_lines(agents: &Registry) -> Vec<AgentLine> {
    agents
        .delegable()
        .map(|agent| AgentLine { name: agent.name.clone(), description: agent.description.clone() })
        .collect()
}

/// Puts an engine together. What can be refused without touching the disk is refused first.
pub(crate) fn engine(settings: &Settings) -> Result<Wired, CommandError> {
    let route = settings.main_route()?;
    let models =
        RouteTable::new(route, settings.call_settings()).map_err(|error| CommandError::config(chain(&error)))?;
    let places = &settings.places;
    let workspace = Workspace::open(&places.workspace).map_err(|error| CommandError::config(chain(&error)))?;
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&places.journal())?);
    let reports = SpillDir::open(&places.reports()).map_err(|error| CommandError::config(chain(&error)))?;
    let engine = Engine::new(EngineParts {
        journal: Arc::clone(&journal),
        models: Arc::new(models),
        workspace: Arc::new(workspace),
        agents: Arc::new(agents()),
        contract: contract(),
        more_tools: Vec::new(),
        reports,
        rules: settings.rules(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    });
    Ok(Wired { engine, journal })
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
