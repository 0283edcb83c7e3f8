//! The limits of one run of an agent.

use sortie_protocol::Limits;

use crate::definition::AgentDefinition;

/// Model calls of an agent that says nothing of them, where nothing else holds.
const USUAL_TURNS: u32 = 30;

/// The limits of one run of an agent: its definition and what holds for every task of this kind, tightened by the
/// request.
pub fn limits(definition: &AgentDefinition, default_limits: Limits, asked: Limits) -> Limits {
    let turns = definition.limits.max_turns.unwrap_or(USUAL_TURNS);
    let own = Limits { max_turns: Some(turns), ..default_limits.tighter(definition.limits) };
    own.tighter(asked)
}
