//! What was said becomes what is meant: a definition, a request and a parent become one configuration.

use sortie_policy::narrow;
use sortie_protocol::{AgentConfig, Grant, GrantLayer, Limits, ModelChoice};

use crate::AgentDefinition;

/// Model calls of an agent that says nothing of them, where nothing else holds.
const USUAL_TURNS: u32 = 30;

/// All that has a say in a configuration.
#[derive(Debug)]
pub struct Resolution<'a> {
    pub definition: &'a AgentDefinition,
    /// The configuration of the one who delegates; `None` for a task without a parent.
    pub parent: Option<&'a AgentConfig>,
    /// What the request asks for: it can only tighten.
    pub asked: Limits,
    /// What holds for every task of this kind.
    pub default_limits: Limits,
    pub model: ModelChoice,
    pub depth: u32,
    /// Names of the tools that exist for a task of this depth, in the order in which they are offered.
    pub tools: &'a [String],
}

/// Decides everything about one run of an agent.
///
/// The grant is the parent's and one layer more, so that a child can never do what its parent may not. Tools that the
/// grant does not admit are not offered; the gate checks each call again.
pub fn resolve(resolution: Resolution<'_>) -> AgentConfig {
    let Resolution { definition, parent, asked, default_limits, model, depth, tools } = resolution;
    let inherited = parent.map_or_else(Grant::default, |parent| parent.grant.clone());
    let own = GrantLayer { owner: format!("agent {}", definition.name), tools: own_tools(definition, tools) };
    let grant = narrow(&inherited, own);
    let limits = Limits { max_turns: Some(definition.max_turns.unwrap_or(USUAL_TURNS)), ..default_limits };
    let mut chain = parent.map_or_else(Vec::new, |parent| parent.chain.clone());
    chain.push(definition.name.clone());
    AgentConfig {
        agent: definition.name.clone(),
        model,
        system: definition.prompt.clone(),
        tools: tools
            .iter()
            .filter(|tool| sortie_policy::decide(&grant, tool) == sortie_policy::Decision::Allow)
            .cloned()
            .collect(),
        grant,
        limits: limits.tighter(asked),
        depth,
        chain,
    }
}

/// What the definition admits of the tools that exist; `None` admits every tool.
///
/// A layer can only list what it admits, so what it forbids is taken from the list of all. That never widens: a tool
/// that does not exist for this task does not exist for those below it either.
fn own_tools(definition: &AgentDefinition, tools: &[String]) -> Option<Vec<String>> {
    let AgentDefinition { tools: allowed, disallowed_tools: disallowed, .. } = definition;
    if disallowed.is_empty() {
        return allowed.clone();
    }
    let admitted = allowed.as_deref().unwrap_or(tools);
    Some(admitted.iter().filter(|tool| !disallowed.contains(tool)).cloned().collect())
}
