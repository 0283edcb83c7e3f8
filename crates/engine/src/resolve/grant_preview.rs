//! What an agent would be granted, found out without starting or opening anything. The engine decides with the same
//! functions when it starts a task.

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Registry, Resolution};
use sortie_contract::{AtMaxDepth, Contract};
use sortie_protocol::{AgentConfig, Failure, GrantLayer, Limits, ModelChoice, TaskRequest};

use crate::resolve::contract_agents::{cast, conduct, mains};
use crate::resolve::roster::{standard, task_tool};
use crate::resolve::settings::{Kind, Rules, Serving, serving};

/// All that has a say in a grant.
#[derive(Clone, Copy)]
pub struct Authority<'a> {
    pub agents: &'a Registry,
    pub contract: &'a Arc<dyn Contract>,
    pub rules: &'a Rules,
    /// The user's side: what binds every task before its agent does.
    pub layers: &'a [GrantLayer],
    /// Names of remote tools that are taken to exist: nothing is started to find out.
    pub remote: &'a [String],
}

impl Authority<'_> {
    /// Of an agent that runs as the main agent.
    pub fn of_main(&self, name: &str) -> Result<AgentConfig, Failure> {
        self.config(name, Kind::Main, None)
    }

    /// Of an agent that `parent` delegates to.
    pub fn below(&self, parent: &AgentConfig, name: &str) -> Result<AgentConfig, Failure> {
        self.config(name, Kind::Delegated, Some(parent))
    }

    /// The agent that would serve a call which names this one, and what to say where it is another. A call's title may
    /// have a say in it, too, which is not known here.
    pub fn serving(&self, name: &str) -> Result<(AgentDefinition, Option<String>), Failure> {
        let agents = cast(self.agents, self.contract.as_ref(), self.rules);
        let best_match = self.contract.defaults().best_match;
        let Serving { definition, notice } = serving(&agents, &request_for(name), Kind::Delegated, best_match)?;
        Ok((definition.clone(), notice))
    }

    /// Whether a task of this depth can delegate at all, whatever its grant says.
    pub fn can_delegate(&self, depth: u32) -> Result<(), Failure> {
        self.rules.check_depth(depth)
    }

    fn config(&self, name: &str, kind: Kind, parent: Option<&AgentConfig>) -> Result<AgentConfig, Failure> {
        let Self { contract, rules, .. } = self;
        let delegable = cast(self.agents, contract.as_ref(), rules);
        let agents = match kind {
            Kind::Main => &mains(self.agents, contract.as_ref(), rules),
            Kind::Delegated => &delegable,
        };
        let request = request_for(name);
        let definition = serving(agents, &request, kind, false)?.definition;
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        let task_tool = Arc::new(task_tool(contract, &delegable, rules));
        let registry = standard(contract.as_ref(), Some(task_tool), true);
        let mut tools = tools_at(&registry, contract.as_ref(), rules, depth);
        tools.extend_from_slice(self.remote);
        let mut config = granted(definition, parent, self.layers, &tools);
        if kind == Kind::Delegated {
            conduct(&mut config, &contract.defaults(), &request, &tools);
        }
        drop_idle(&mut config.tools, &registry, contract.as_ref());
        Ok(config)
    }
}

/// An agent's configuration where only its grant and its tools matter: no model and no limit has a say in them.
pub(crate) fn granted(
    definition: &AgentDefinition,
    parent: Option<&AgentConfig>,
    root_layers: &[GrantLayer],
    tools: &[String],
) -> AgentConfig {
    sortie_agents::resolve(Resolution {
        definition,
        parent,
        root_layers,
        asked: Limits::default(),
        output_schema: None,
        default_limits: Limits::default(),
        model: ModelChoice { route: String::new(), id: String::new() },
        depth: parent.map_or(0, |parent| parent.depth + 1),
        tools,
    })
}

/// A request of which nothing matters but whom it asks for.
fn request_for(name: &str) -> TaskRequest {
    TaskRequest { agent: name.to_owned(), ..TaskRequest::default() }
}

fn needs_children(tools: &sortie_tools::Registry, tool: &str) -> bool {
    tools.get(tool).is_some_and(|tool| tool.needs_children())
}

/// Who cannot start a child has none to look after; if it writes to nobody, it need not know who is beside it, either.
pub(crate) fn drop_idle(offered: &mut Vec<String>, tools: &sortie_tools::Registry, contract: &dyn Contract) {
    let has = |name: &str| offered.iter().any(|tool| tool == name);
    let (delegates, writes) = (has(contract.tool_name()), has("SendMessage"));
    offered.retain(|tool| delegates || !needs_children(tools, tool) && (writes || tool != "TaskList"));
}

/// Names of the tools that exist for tasks of this depth: at the depth limit nothing does that takes children.
pub(crate) fn tools_at(
    tools: &sortie_tools::Registry,
    contract: &dyn Contract,
    rules: &Rules,
    depth: u32,
) -> Vec<String> {
    let refuses = contract.defaults().at_max_depth == AtMaxDepth::Refuses;
    let delegation = rules.delegation && (depth < rules.max_depth || refuses);
    // A main agent has nobody above it, and asks by ending its turn.
    let is_idle = |tool: &str| match tool {
        "Ask" => depth == 0 || !rules.delegation,
        "SendMessage" | "TaskList" | "Note" => !rules.delegation,
        _ => !delegation && needs_children(tools, tool),
    };
    let exists = |tool: &&str| !is_idle(tool);
    tools.names().filter(exists).map(str::to_owned).collect()
}
