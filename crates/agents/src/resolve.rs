//! Combines a definition, a request and a parent into one configuration.

mod grant_layer;
mod limits;

use serde_json::Value;
use sortie_policy::narrow;
use sortie_protocol::{AgentConfig, Grant, GrantLayer, Limits, ModelChoice, ServerTools};

pub use self::limits::limits;

use self::grant_layer::layer;
use crate::definition::AgentDefinition;

/// Everything that contributes to a configuration.
#[derive(Debug)]
pub struct Resolution<'a> {
    pub definition: &'a AgentDefinition,
    /// Configuration of the delegating task; `None` for a task without a parent.
    pub parent: Option<&'a AgentConfig>,
    /// Layers above the agent's own in a task without a parent: the settings of the user and the project.
    pub root_layers: &'a [GrantLayer],
    /// Limits of the request: they can only tighten.
    pub asked: Limits,
    /// Schema of the request, which replaces the definition's.
    pub output_schema: Option<Value>,
    /// Default limits for every task of this kind.
    pub default_limits: Limits,
    pub model: ModelChoice,
    pub depth: u32,
    /// Names of the tools that exist at this depth, in the order they are offered.
    pub tools: &'a [String],
}

/// Decides everything about one run of an agent.
///
/// The grant is the parent's plus one layer, so a child can never do what its parent may not. Tools that the grant does
/// not admit are not offered; the gate checks each call again.
pub fn resolve(resolution: Resolution<'_>) -> AgentConfig {
    let Resolution { definition, parent, root_layers, asked, output_schema, .. } = resolution;
    let Resolution { default_limits, model, depth, tools, .. } = resolution;
    let at_root = || Grant { layers: root_layers.to_vec() };
    let inherited = parent.map_or_else(at_root, |parent| parent.grant.clone());
    let grant = narrow(&inherited, layer(definition, &inherited, tools));
    let mut chain = parent.map_or_else(Vec::new, |parent| parent.chain.clone());
    chain.push(definition.name.clone());
    AgentConfig {
        agent: definition.name.clone(),
        model,
        system: definition.prompt.clone(),
        tools: sortie_policy::offerable(&grant, tools),
        grant,
        limits: limits(definition, default_limits, asked),
        depth,
        chain,
        output_schema: output_schema.or_else(|| definition.output_schema.clone()),
        model_asked: None,
        server_tools: ServerTools::default(),
    }
}

/// Narrows a stored grant to the agent's current definition. A changed definition adds one layer, which only restricts:
/// its approvals do not count. `tools` as for [`resolve`].
pub fn renew(stored: &Grant, definition: &AgentDefinition, tools: &[String]) -> Grant {
    let own = GrantLayer { approves_reads: false, ..layer(definition, stored, tools) };
    let says_as_much = |had: &GrantLayer| {
        (&had.owner, &had.tools, &had.deny, had.mode, had.never_asks)
            == (&own.owner, &own.tools, &own.deny, own.mode, own.never_asks)
    };
    if stored.layers.iter().any(says_as_much) { stored.clone() } else { narrow(stored, own) }
}
