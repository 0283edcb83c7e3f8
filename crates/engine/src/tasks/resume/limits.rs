//! The limits of a resumed leg: an interrupted leg has what is left, a new leg gets its own.
//!
//! Limits in a resumption mean one thing from a person and another from a call. `run/allowance.rs` decides about each
//! further model call.

use sortie_agents::AgentDefinition;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Limits};

use crate::conversation::load_task::LoadedTask;
use crate::resolve::roster::Roster;
use crate::resolve::settings::{TaskKind, lowered, turns};
use crate::tasks::state::EngineState;

/// Requester of a resumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wisher {
    /// A person, who sets the limits of the leg.
    Person,
    /// A call, which asks for a leg as for a new task, and gets as much.
    Call,
}

/// Returns the limits of the leg, and notices about those that are lower than requested.
pub(crate) fn limits_of_leg(
    engine: &EngineState,
    roster: &Roster,
    loaded: &LoadedTask,
    asked: Limits,
    by: Wisher,
) -> Result<(Limits, Vec<String>), Failure> {
    let past = &loaded.past;
    let definition = definition_of(roster, &past.job.config)?;
    let kind = if past.job.config.depth == 0 { TaskKind::Main } else { TaskKind::Delegated };
    let (max_turns, fewer_turns) = turns(definition, asked.max_turns, &engine.contract.defaults(), kind);
    let limits = Limits { max_turns, ..definition.limits };
    let definition = AgentDefinition { limits, ..definition.clone() };
    let of_a_new_task = sortie_agents::limits(&definition, engine.rules.limits(kind), asked);
    let from_now_on = match by {
        Wisher::Call => of_a_new_task,
        Wisher::Person => Limits { max_turns: of_a_new_task.max_turns.filter(|_| asked.max_turns.is_some()), ..asked },
    };
    let unsaid = match (by, &past.ended) {
        (Wisher::Call, _) => Limits::default(),
        (Wisher::Person, Some(_)) => beyond_now(loaded, past.first().limits),
        (Wisher::Person, None) => past.limits_left(engine.clock.now()),
    };
    let limits = or(beyond_now(loaded, from_now_on), unsaid);
    let tree = if past.job.parent.is_none() { engine.rules.of_tree() } else { Limits::default() };
    // The tree counts from its beginning.
    let left = tree.max_children.map(|max| max.saturating_sub(loaded.below.started));
    let given = from_now_on.tighter(Limits { max_children: left, ..Limits::default() });
    Ok((limits, fewer_turns.into_iter().chain(lowered(asked, given)).collect()))
}

/// Adds usage so far to limits from now on. Turns count from the start of the leg, tokens and sub-agents from the start
/// of the task.
fn beyond_now(loaded: &LoadedTask, limits: Limits) -> Limits {
    let LoadedTask { past, below, .. } = loaded;
    let mut used = past.totals.footprint().usage;
    used += below.usage;
    let turns = if past.ended.is_some() { 0 } else { past.totals.turns - past.totals.turns_before };
    Limits {
        max_turns: limits.max_turns.map(|max| max.saturating_add(turns)),
        max_tokens: limits.max_tokens.map(|max| max.saturating_add(used.total_tokens())),
        max_cost: limits.max_cost.map(|max| max.saturating_add(used.cost)),
        timeout: limits.timeout,
        idle: limits.idle,
        max_children: limits.max_children.map(|max| max.saturating_add(below.started)),
    }
}

/// Returns the present definition of a task's agent.
pub(crate) fn definition_of<'a>(roster: &'a Roster, config: &AgentConfig) -> Result<&'a AgentDefinition, Failure> {
    let agents = if config.depth == 0 { &roster.mains } else { &roster.agents };
    agents.get(&config.agent).map_err(|error| {
        let advice = "bring its file back, or start a new task";
        Failure::new(FailureCode::AgentGone, format!("this task's agent cannot be found: {error}; {advice}"))
    })
}

/// Returns `first`, completed from `second`.
fn or(first: Limits, second: Limits) -> Limits {
    Limits {
        max_turns: first.max_turns.or(second.max_turns),
        max_tokens: first.max_tokens.or(second.max_tokens),
        max_cost: first.max_cost.or(second.max_cost),
        timeout: first.timeout.or(second.timeout),
        idle: first.idle.or(second.idle),
        max_children: first.max_children.or(second.max_children),
    }
}
