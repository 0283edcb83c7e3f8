//! The agent that serves a request: the one it names, or the best match if the contract allows a substitute.

use sortie_agents::{AgentDefinition, Registry};
use sortie_contract::Defaults;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Fork, TaskRequest};

use crate::resolve::settings::TaskKind;

/// The agent that serves a request.
pub(crate) struct ChosenAgent<'a> {
    pub(crate) definition: &'a AgentDefinition,
    /// Notice if this is not the agent that was named.
    pub(crate) notice: Option<String>,
}

/// Substitute for an unknown agent name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandIn {
    Nobody,
    BestMatch,
}

impl StandIn {
    pub(crate) fn of(defaults: &Defaults) -> Self {
        if defaults.best_match { Self::BestMatch } else { Self::Nobody }
    }
}

/// Returns the caller's own agent if a call forks it: the call asks for a fork, and names that agent or none.
pub(crate) fn own_agent<'a>(
    agents: &'a Registry,
    request: &TaskRequest,
    caller: Option<&AgentConfig>,
) -> Option<&'a AgentDefinition> {
    let caller = caller.filter(|_| request.fork.is_some_and(|fork| fork != Fork::Off))?;
    let own = agents.get(&caller.agent).ok()?;
    let names_own = || agents.get(&request.agent).is_ok_and(|named| named.name == own.name);
    (request.agent_is_usual || names_own()).then_some(own)
}

pub(crate) fn serving<'a>(
    agents: &'a Registry,
    request: &TaskRequest,
    kind: TaskKind,
    stand_in: StandIn,
) -> Result<ChosenAgent<'a>, Failure> {
    let unknown = match kind {
        TaskKind::Main => agents.get(&request.agent),
        TaskKind::Delegated => agents.get_delegable(&request.agent),
    };
    let unknown = match unknown {
        Ok(definition) => return Ok(ChosenAgent { definition, notice: None }),
        Err(unknown) => unknown,
    };
    // A broken file still owns its agent's name, so nobody stands in for that agent.
    if kind == TaskKind::Delegated && stand_in == StandIn::BestMatch && unknown.absent.is_empty() {
        let wanted = format!("{} {}", request.title, request.agent);
        let ranking = sortie_agents::rank(agents, &wanted);
        if let Some(best) = ranking.best().map(|best| best.agent).filter(|agent| agent.delegable) {
            let notice = format!("there is no agent `{}`; `{}` fits best and serves", request.agent, best.name);
            return Ok(ChosenAgent { definition: best, notice: Some(notice) });
        }
    }
    let mut names: Vec<&str> = agents.delegable().map(|agent| agent.name.as_str()).collect();
    names.sort_unstable();
    let (code, message) = match &unknown.absent[..] {
        [] if names.is_empty() => (FailureCode::NoAgents, unknown.to_string()),
        [] => (FailureCode::UnknownAgent, unknown.to_string()),
        [why, ..] => (FailureCode::UnusableAgent, format!("agent `{}` cannot be used: {why}", request.agent)),
    };
    Err(Failure::new(code, message).about(names))
}
