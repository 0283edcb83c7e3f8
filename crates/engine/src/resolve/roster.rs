//! The roster: the agents of one moment, and the tools whose descriptions list them.
//!
//! A task keeps the roster that it started with, so that its requests only grow. Later starts and delegations get the
//! agents of their moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_agents::{Agents, Templates, template_lines};
use sortie_contract::{AgentLine, Companions, Contract};
use sortie_protocol::ToolSpec;
use sortie_tools::{Commands, Registry, TaskTool, Tool};

use crate::ports::text::one_line;
use crate::resolve::contract_agents::{TASK, cast, mains};
use crate::resolve::settings::{EngineSettings, TaskKind};

/// Agents and tools that belong together.
pub(crate) struct Roster {
    /// Agents as found in files and built in.
    found: Arc<sortie_agents::Registry>,
    /// Agents for delegation, as the contract has them.
    pub(crate) agents: Arc<sortie_agents::Registry>,
    /// Agents as main agents.
    pub(crate) mains: Arc<sortie_agents::Registry>,
    pub(crate) tools: Arc<Registry>,
    /// Missing server tools, and why.
    pub(crate) missing: Vec<String>,
    /// Further notices about them, for people only.
    notices: Vec<String>,
    /// Tool descriptions by set of tools, shared by all tasks with the same set.
    offers: Mutex<HashMap<Vec<String>, Arc<[ToolSpec]>>>,
}

/// Holds the current roster, and makes a new one when the agents have changed.
pub(crate) struct Rosters {
    agents: Arc<dyn Agents>,
    contract: Arc<dyn Contract>,
    more_tools: Vec<Arc<dyn Tool>>,
    commands: Commands,
    rules: EngineSettings,
    current: Mutex<Option<Arc<Roster>>>,
}

impl Rosters {
    pub(crate) fn new(
        agents: Arc<dyn Agents>,
        contract: Arc<dyn Contract>,
        more_tools: Vec<Arc<dyn Tool>>,
        commands: Commands,
        rules: EngineSettings,
    ) -> Self {
        Self { agents, contract, more_tools, commands, rules, current: Mutex::default() }
    }

    /// Returns the current roster.
    pub(crate) fn current(&self) -> Arc<Roster> {
        let found = self.agents.current();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(roster) = current.as_ref().filter(|roster| Arc::ptr_eq(&roster.found, &found)) {
            return Arc::clone(roster);
        }
        let agents = Arc::new(cast(&found, self.contract.as_ref(), &self.rules));
        let mains = Arc::new(mains(&found, self.contract.as_ref(), &self.rules));
        let task_tool = task_tool(&self.contract, &agents, &self.rules).telling(&template_lines(found.templates()));
        let task_tool = Arc::new(task_tool);
        let tools = standard(self.contract.as_ref(), Some(task_tool), self.commands);
        let tools = Arc::new(tools.with(self.more_tools.clone()));
        let (missing, notices, offers) = (Vec::new(), Vec::new(), Mutex::default());
        Arc::clone(current.insert(Arc::new(Roster { found, agents, mains, tools, missing, notices, offers })))
    }
}

impl Roster {
    /// Returns the roster of one task, with more tools, notes on missing ones, and notices.
    pub(crate) fn with(&self, tools: Vec<Arc<dyn Tool>>, missing: Vec<String>, notices: Vec<String>) -> Self {
        Self {
            found: Arc::clone(&self.found),
            agents: Arc::clone(&self.agents),
            mains: Arc::clone(&self.mains),
            tools: Arc::new(self.tools.and(tools)),
            missing,
            notices,
            offers: Mutex::default(),
        }
    }

    /// Returns the agents for tasks of this kind.
    pub(crate) fn agents_for(&self, kind: TaskKind) -> &sortie_agents::Registry {
        match kind {
            TaskKind::Main => &self.mains,
            TaskKind::Delegated => &self.agents,
        }
    }

    /// Iterates over all notices for people about server tools.
    pub(crate) fn notices(&self) -> impl Iterator<Item = String> {
        self.missing.iter().chain(&self.notices).cloned()
    }

    /// Returns the task templates.
    pub(crate) fn templates(&self) -> &Templates {
        self.found.templates()
    }

    /// Returns the model's descriptions of these tools, in this order.
    pub(crate) fn offer(&self, tools: &[String]) -> Arc<[ToolSpec]> {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let offer = offers
            .entry(tools.to_vec())
            .or_insert_with(|| tools.iter().filter_map(|tool| self.tools.spec(tool)).cloned().collect());
        Arc::clone(offer)
    }
}

/// Returns the built-in tools of a contract.
pub(crate) fn standard(contract: &dyn Contract, task_tool: Option<Arc<dyn Tool>>, commands: Commands) -> Registry {
    let tools = Registry::standard(task_tool, commands);
    match contract.defaults().companions {
        Companions::None => tools,
        Companions::Messages => tools.with_messages(),
        Companions::All => tools.with_companions(),
    }
}

/// Most bytes of all lines. They are part of every request of every task that can delegate.
const MAX_LINES_BYTES: usize = 12_000;
/// Limits on names. They come before descriptions: without its name an agent cannot be chosen from the list.
const MAX_NAMES: usize = 500;
const MAX_NAMES_BYTES: usize = 16 << 10;

/// Returns the delegation tool, with these agents in its description and schema. An agent left out of both can still be
/// named. Features that the settings switch off are not in the schema.
pub fn task_tool(contract: &Arc<dyn Contract>, agents: &sortie_agents::Registry, rules: &EngineSettings) -> TaskTool {
    let lines = agent_lines(agents);
    let left_out = agents.delegable().count() - lines.len();
    let tool = TaskTool::new(Arc::clone(contract), &lines, left_out);
    let tool = if rules.background { tool } else { tool.without("run_in_background") };
    if rules.resume_within.is_some() { tool } else { tool.without("resume") }
}

/// Returns one line for each agent, built-in ones first: names as long as they fit, and one-line descriptions as long
/// as they fit.
fn agent_lines(agents: &sortie_agents::Registry) -> Vec<AgentLine> {
    let (mut left_for_lines, mut left_for_names) = (MAX_LINES_BYTES, MAX_NAMES_BYTES);
    let mut lines = Vec::new();
    for agent in agents.delegable().take(MAX_NAMES) {
        let Some(rest) = left_for_names.checked_sub(agent.name.len()) else { break };
        left_for_names = rest;
        let line = one_line(&agent.description);
        let description = match left_for_lines.checked_sub(agent.name.len() + line.len()) {
            Some(rest) => {
                left_for_lines = rest;
                line
            }
            None => String::new(),
        };
        lines.push(AgentLine { name: agent.name.clone(), description });
    }
    lines
}

/// Returns a notice about agents without a description in the tool.
pub(crate) fn undescribed(agents: &sortie_agents::Registry) -> Option<String> {
    let all = agents.delegable().count();
    let described = agent_lines(agents).iter().filter(|line| !line.description.is_empty()).count();
    (described < all).then(|| {
        format!(
            "the Task tool describes {described} of {all} agents; the others can be used by name (`sortie agents list`)"
        )
    })
}

/// Returns the names of the built-in tools, as agent files call them in every contract.
pub fn tool_names() -> Vec<String> {
    Registry::standard(None, Commands::Offered).with_companions().names().chain([TASK]).map(str::to_owned).collect()
}
