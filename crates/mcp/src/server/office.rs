//! The office, shared by all sessions of one process: the engine behind them as a host sees it, and the sources of
//! resources.
//!
//! It knows nothing of the connected clients, except the models that hosts lend.

use std::sync::{Arc, Mutex, PoisonError};

use sortie_agents::Agents;
use sortie_contract::Contract;
use sortie_engine::{BackgroundProcess, Engine, Host};
use sortie_journal::Journal;
use sortie_protocol::Failure;

use crate::host_model::Hosts;
use crate::resources::Records;
use crate::resources::news::News;
use crate::server::people::People;

/// Parts of an office.
pub struct OfficeParts {
    pub engine: Engine,
    /// The engine's own journal.
    pub journal: Arc<dyn Journal>,
    pub agents: Arc<dyn Agents>,
    pub contract: Arc<dyn Contract>,
    /// Root of the workspace, as the journal spells it.
    pub workspace: String,
    /// Limit for the text of an expanded template.
    pub max_prompt_bytes: usize,
    /// Hosts whose models can serve; `None` if a route is set, because then no model is borrowed.
    pub hosts: Option<Hosts>,
    /// Process that runs background tasks; `None` if they run in this one.
    pub background: Option<Arc<dyn BackgroundProcess>>,
    /// True if the hosts are other Sorties, whose calls carry limits.
    pub is_nested: bool,
    /// Answer to every call; `None` if calls are served.
    pub refusal: Option<Failure>,
    /// Notices for the first task, about the host's roots.
    pub notices: Vec<String>,
    /// The engine's own approver, which asks the people behind hosts.
    pub people: People,
    /// This program's version, as shown to hosts.
    pub version: String,
}

/// State shared by all sessions of a process.
pub struct Office {
    engine: Engine,
    pub(crate) engine_host: Host,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agents: Arc<dyn Agents>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) records: Records,
    pub(crate) news: Arc<News>,
    pub(crate) hosts: Option<Hosts>,
    pub(crate) is_nested: bool,
    pub(crate) refusal: Option<Failure>,
    notices: Mutex<Vec<String>>,
    pub(crate) people: People,
    pub(crate) max_prompt_bytes: usize,
    pub(crate) version: String,
}

impl Office {
    pub fn new(parts: OfficeParts) -> Arc<Self> {
        let OfficeParts {
            engine, journal, agents, contract, workspace, max_prompt_bytes, hosts, people, version, ..
        } = parts;
        let engine_host = match parts.background {
            Some(process) => engine.host().with_background(process),
            None => engine.host(),
        };
        let records = Records { journal: Arc::clone(&journal), engine_host: engine_host.clone(), workspace };
        let news = News::new(Arc::clone(&agents), records.clone());
        Arc::new(Self {
            engine,
            engine_host,
            journal,
            agents,
            contract,
            records,
            news,
            hosts,
            is_nested: parts.is_nested,
            refusal: parts.refusal,
            notices: Mutex::new(parts.notices),
            people,
            max_prompt_bytes,
            version,
        })
    }

    /// This office, with a refusal as the answer to every call.
    pub(crate) fn refusing(&self, refusal: Failure) -> Arc<Self> {
        Arc::new(Self {
            engine: self.engine.clone(),
            engine_host: self.engine_host.clone(),
            journal: Arc::clone(&self.journal),
            agents: Arc::clone(&self.agents),
            contract: Arc::clone(&self.contract),
            records: self.records.clone(),
            news: Arc::clone(&self.news),
            hosts: self.hosts.clone(),
            is_nested: self.is_nested,
            refusal: Some(refusal),
            notices: Mutex::default(),
            people: self.people.clone(),
            max_prompt_bytes: self.max_prompt_bytes,
            version: self.version.clone(),
        })
    }

    /// Adds notices for the next task.
    pub fn add_notices(&self, notices: Vec<String>) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).extend(notices);
    }

    /// Takes the notices for the next task.
    pub(crate) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Interrupts all tasks where they are, to be resumed.
    pub async fn interrupt(&self) {
        self.engine.interrupt().await;
    }

    /// Waits until all background work has ended.
    pub async fn idle(&self) {
        self.engine_host.idle().await;
    }

    /// True if nothing works in the background.
    pub fn is_idle(&self) -> bool {
        self.engine_host.is_idle()
    }
}
