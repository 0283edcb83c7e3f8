//! The configuration of a task: its grant and tools, from the agent's definition, the contract, the settings and the
//! requester.

use serde_json::Value;
use sortie_agents::{AgentDefinition, Resolution};
use sortie_contract::{AtMaxDepth, Companions, Contract};
use sortie_protocol::{AgentConfig, GrantLayer, Limits, Mode, ModelChoice, TaskRequest};

use crate::resolve::contract_agents::conduct;
use crate::resolve::settings::{EngineSettings, Requester, TaskKind, turns};

/// Everything that decides an agent's grant and tools; model and instructions come later.
pub(crate) struct GrantFrame<'a> {
    pub(crate) contract: &'a dyn Contract,
    pub(crate) rules: &'a EngineSettings,
    /// The user's layers, which bind every task before its agent's own.
    pub(crate) layers: &'a [GrantLayer],
    pub(crate) tools: &'a sortie_tools::Registry,
    /// Names of further tools, assumed to exist.
    pub(crate) more_tools: &'a [String],
    pub(crate) requester: Requester<'a>,
    /// True if a person can answer questions.
    pub(crate) has_person: bool,
}

/// The parts of a request that affect its task's configuration.
pub(crate) struct ConfigRequest<'a> {
    pub(crate) request: &'a TaskRequest,
    pub(crate) output_schema: Option<Value>,
    pub(crate) model: ModelChoice,
}

impl GrantFrame<'_> {
    /// Returns the configuration of a task, and a notice if it gets fewer turns than requested.
    pub(crate) fn configure(
        &self,
        definition: &AgentDefinition,
        asked: ConfigRequest<'_>,
    ) -> (AgentConfig, Option<String>) {
        let Self { contract, rules, requester, .. } = *self;
        let ConfigRequest { request, output_schema, model } = asked;
        let (kind, parent, defaults) = (requester.kind(), requester.parent(), contract.defaults());
        let (max_turns, fewer_turns) = turns(definition, request.limits.max_turns, &defaults, kind);
        let mut tools = tools_at(self.tools, contract, rules, requester.depth_of_task());
        if parent.is_none() && !self.has_person {
            // There is no parent and no person to answer.
            tools.retain(|tool| tool != "Ask");
        }
        tools.extend_from_slice(self.more_tools);
        let mut config = sortie_agents::resolve(Resolution {
            definition: &AgentDefinition { limits: Limits { max_turns, ..definition.limits }, ..definition.clone() },
            parent,
            root_layers: self.layers,
            asked: request.limits,
            output_schema,
            default_limits: rules.limits(kind),
            model,
            depth: requester.depth_of_task(),
            tools: &tools,
        });
        if kind == TaskKind::Delegated {
            conduct(&mut config, &defaults, request, &tools);
        }
        if request.reads_only {
            keep_to_reading(&mut config);
        }
        drop_idle(&mut config.tools, self.tools, contract);
        (config, fewer_turns)
    }
}

/// Narrows a grant to reading, notes and delegation, for the task and every task below it.
fn keep_to_reading(config: &mut AgentConfig) {
    let layer = GrantLayer {
        mode: Some(Mode::Plan),
        deny: vec!["WebFetch".to_owned()],
        ..GrantLayer::new("the call, which asked for reading only")
    };
    config.grant = sortie_policy::narrow(&config.grant, layer);
    config.tools = sortie_policy::offerable(&config.grant, &config.tools);
}

/// Returns an agent's configuration for its grant and tools only; model and limits are empty.
pub(crate) fn granted(
    definition: &AgentDefinition,
    requester: Requester<'_>,
    root_layers: &[GrantLayer],
    tools: &[String],
) -> AgentConfig {
    sortie_agents::resolve(Resolution {
        definition,
        parent: requester.parent(),
        root_layers,
        asked: Limits::default(),
        output_schema: None,
        default_limits: Limits::default(),
        model: ModelChoice { route: String::new(), id: String::new() },
        depth: requester.depth_of_task(),
        tools,
    })
}

fn needs_children(tools: &sortie_tools::Registry, tool: &str) -> bool {
    tools.get(tool).is_some_and(|tool| tool.needs_children())
}

/// Drops the child-management tools from agents that cannot delegate, and `TaskList` from those that cannot send
/// messages either.
fn drop_idle(offered: &mut Vec<String>, tools: &sortie_tools::Registry, contract: &dyn Contract) {
    let has = |name: &str| offered.iter().any(|tool| tool == name);
    let (delegates, writes) = (has(contract.tool_name()), has("SendMessage"));
    offered.retain(|tool| delegates || !needs_children(tools, tool) && (writes || tool != "TaskList"));
}

/// Returns the names of tools for tasks of this depth. At the depth limit, tools that need children are left out.
pub(crate) fn tools_at(
    tools: &sortie_tools::Registry,
    contract: &dyn Contract,
    rules: &EngineSettings,
    depth: u32,
) -> Vec<String> {
    let refuses = contract.defaults().at_max_depth == AtMaxDepth::Refuses;
    let delegation = rules.delegation && (depth < rules.max_depth || refuses);
    let writes = rules.delegation && (depth > 0 || contract.defaults().companions == Companions::All);
    // A main agent has no parent, and asks by ending its turn.
    let is_idle = |tool: &str| match tool {
        "Ask" => depth == 0 || !rules.delegation,
        "SendMessage" | "TaskList" | "Note" => !writes,
        _ => !delegation && needs_children(tools, tool),
    };
    let exists = |tool: &&str| !is_idle(tool);
    tools.names().filter(exists).map(str::to_owned).collect()
}
