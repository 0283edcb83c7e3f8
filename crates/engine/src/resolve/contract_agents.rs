//! A contract's influence on agents: the names that can be called, tools and turns of built-in agents, and tools denied
//! to all sub-agents.

use sortie_agents::{AgentDefinition, Origin, Registry};
use sortie_contract::{AtMaxDepth, Contract, Defaults, SystemPrompt, TypeDefaults, Visible};
use sortie_protocol::{AgentConfig, GrantLayer, Limits, Mode, TaskRequest};

use crate::resolve::settings::EngineSettings;

/// Heading before the task, for contracts that put it into the system prompt.
const TASK_HEADING: &str = "\n\n# Task\n";

/// Text under that heading, for contracts that send the brief as the first message alone.
const TASK_POINTER: &str =
    "Your task is the first message, whole and word for word. Your report answers that message and nothing else.";

/// Name of the delegation tool in agent files, whatever its name in a contract.
pub(crate) const TASK: &str = "Task";

/// Mention of the tool in built-in prompts, where they say how to delegate.
const WITH_TASK: &str = "with Task";

/// Returns the agents with the contract's own descriptions, tools and turns for the built-in types. Only agents that a
/// caller can name there stay delegable.
pub fn cast(agents: &Registry, contract: &dyn Contract, rules: &EngineSettings) -> Registry {
    let defaults = contract.defaults();
    agents.recast(|agent| {
        let by_contract = defaults.type_of(&agent.name);
        let from_file = agent.origin.path.is_some();
        let can_be_named = match defaults.visible {
            Visible::All => true,
            Visible::Types => by_contract.is_some(),
            Visible::Files => from_file || rules.builtin_agents,
            Visible::TypesAndFiles => by_contract.is_some() || from_file,
        };
        let mut agent = match by_contract {
            // A person's agent file comes before the contract's type.
            Some(by_contract) if !from_file => as_type(agent, by_contract),
            _ => agent.clone(),
        };
        agent.delegable &= can_be_named;
        with_own_name(agent, contract)
    })
}

/// Returns the agents as main agents, which contracts do not change. If nobody can delegate, built-in prompts leave
/// delegation out.
pub(crate) fn mains(agents: &Registry, contract: &dyn Contract, rules: &EngineSettings) -> Registry {
    let refuses = contract.defaults().at_max_depth == AtMaxDepth::Refuses;
    let delegates = rules.delegation && (rules.max_depth > 0 || refuses);
    agents.recast(|agent| {
        let mut agent = agent.clone();
        if agent.origin == Origin::BUILTIN && !delegates {
            agent.prompt = without_delegation(&agent.prompt);
        }
        with_own_name(agent, contract)
    })
}

/// Returns a built-in prompt without the paragraphs about delegation.
fn without_delegation(prompt: &str) -> String {
    let paragraphs: Vec<&str> = prompt.split("\n\n").filter(|paragraph| !paragraph.contains(WITH_TASK)).collect();
    paragraphs.join("\n\n")
}

/// Returns the agent with the contract's name for the delegation tool.
fn with_own_name(mut agent: AgentDefinition, contract: &dyn Contract) -> AgentDefinition {
    let named = agent.tools.iter_mut().flatten().chain(&mut agent.disallowed_tools);
    named.filter(|tool| *tool == TASK).for_each(|tool| contract.tool_name().clone_into(tool));
    if agent.origin == Origin::BUILTIN {
        agent.prompt = agent.prompt.replace(WITH_TASK, &format!("with {}", contract.tool_name()));
    }
    agent
}

fn as_type(agent: &AgentDefinition, by_contract: &TypeDefaults) -> AgentDefinition {
    let own = |tools: &[&str]| tools.iter().map(|&tool| tool.to_owned()).collect();
    AgentDefinition {
        description: by_contract.description.unwrap_or(&agent.description).to_owned(),
        tools: by_contract.tools.map(own).or_else(|| agent.tools.clone()),
        limits: Limits { max_turns: by_contract.max_turns.or(agent.limits.max_turns), ..agent.limits },
        approves_reads: by_contract.approves_reads,
        mode: if by_contract.isolated { Some(Mode::Default) } else { agent.mode },
        ..agent.clone()
    }
}

/// Applies the contract beyond the definition. It has its own name for the agent in refusals, tools denied to all
/// sub-agents, and the task in the system prompt.
pub(crate) fn conduct(config: &mut AgentConfig, defaults: &Defaults, request: &TaskRequest, tools: &[String]) {
    if let Some(known) = defaults.type_of(&config.agent) {
        let (own, by_contract) = (format!("agent {}", config.agent), format!("agent {}", known.name));
        for layer in config.grant.layers.iter_mut().filter(|layer| layer.owner == own) {
            layer.owner.clone_from(&by_contract);
        }
    }
    if defaults.only_tools.is_some() || !defaults.denied_tools.is_empty() {
        let is_among = |names: &[&str], tool: &str| names.iter().any(|name| name.eq_ignore_ascii_case(tool));
        let admitted = |tool: &&String| {
            !is_among(defaults.denied_tools, tool) && defaults.only_tools.is_none_or(|only| is_among(only, tool))
        };
        let layer = GrantLayer {
            tools: Some(tools.iter().filter(admitted).cloned().collect()),
            ..GrantLayer::new("the contract")
        };
        config.grant = sortie_policy::narrow(&config.grant, layer);
        config.tools = sortie_policy::offerable(&config.grant, &config.tools);
    }
    match defaults.system {
        SystemPrompt::Role => {}
        SystemPrompt::RoleAndTitle => config.system += &format!("{TASK_HEADING}{}", request.title),
        SystemPrompt::RoleAndPointer => config.system += &format!("{TASK_HEADING}{TASK_POINTER}"),
    }
}
