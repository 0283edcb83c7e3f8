//! The limits of one run of an agent.

use sortie_protocol::Limits;

use crate::definition::AgentDefinition;

/// Default number of model calls if nothing else sets it.
const USUAL_TURNS: u32 = 30;

/// The limits of one run of an agent: its definition and the defaults for this kind of task, tightened by the request.
pub fn limits(definition: &AgentDefinition, default_limits: Limits, asked: Limits) -> Limits {
    let turns = definition.limits.max_turns.unwrap_or(USUAL_TURNS);
    let own = Limits { max_turns: Some(turns), ..default_limits.tighter(definition.limits) };
    own.tighter(asked)
}
