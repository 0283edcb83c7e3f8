//! The office, which all sessions of one process share: the engine behind them as a visitor has it, and where things
//! are read.
//!
//! It knows nothing of who is connected, but for the models that hosts lend.

use std::sync::Arc;

use sortie_agents::Agents;
use sortie_contract::Contract;
use sortie_engine::{Engine, Host};
use sortie_journal::Journal;

use crate::host_model::Hosts;
use crate::resources::Records;
use crate::resources::news::News;

/// What an office is made of.
pub struct OfficeParts {
    pub engine: Engine,
    /// The engine's own.
    pub journal: Arc<dyn Journal>,
    pub agents: Arc<dyn Agents>,
    pub contract: Arc<dyn Contract>,
    /// The root of the workspace, as the journal names it.
    pub workspace: String,
    /// Of the text that a template is expanded to.
    pub max_prompt_bytes: usize,
    /// The hosts whose models can serve; `None` where a route is set, and nobody's model is borrowed.
    pub hosts: Option<Hosts>,
    /// Of this program, as hosts read it.
    pub version: String,
}

/// The back room of all sessions of a process.
pub struct Office {
    pub(crate) engine_host: Host,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agents: Arc<dyn Agents>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) records: Records,
    pub(crate) news: Arc<News>,
    pub(crate) hosts: Option<Hosts>,
    pub(crate) max_prompt_bytes: usize,
    pub(crate) version: String,
}

impl Office {
    pub fn new(parts: OfficeParts) -> Arc<Self> {
        let OfficeParts { engine, journal, agents, contract, workspace, max_prompt_bytes, hosts, version } = parts;
        let engine_host = engine.host();
        let records = Records { journal: Arc::clone(&journal), engine_host: engine_host.clone(), workspace };
        let news = News::new(Arc::clone(&agents), records.clone());
        Arc::new(Self { engine_host, journal, agents, contract, records, news, hosts, max_prompt_bytes, version })
    }

    /// Waits until all that works in the background has ended.
    pub async fn idle(&self) {
        self.engine_host.idle().await;
    }

    /// Whether nothing works in the background.
    pub fn is_idle(&self) -> bool {
        self.engine_host.is_idle()
    }
}
