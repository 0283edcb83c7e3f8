//! Which agents exist, and which one a name means.

use crate::{AgentDefinition, builtin};

/// The known agents, in the order in which they are listed.
#[derive(Debug, Clone)]
pub struct Registry {
    agents: Vec<AgentDefinition>,
}

/// Nobody here goes by that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent `{asked}`; there are {known}", known = known.join(", "))]
pub struct UnknownAgent {
    pub asked: String,
    pub known: Vec<String>,
}

impl Registry {
    pub fn builtin() -> Self {
        Self { agents: builtin::definitions() }
    }

    /// All agents, the main agent included.
    pub fn all(&self) -> &[AgentDefinition] {
        &self.agents
    }

    /// Those that can be delegated to.
    pub fn delegable(&self) -> impl Iterator<Item = &AgentDefinition> {
        self.agents.iter().filter(|agent| agent.delegable)
    }

    /// Any agent by name: exactly, else by alias, ignoring case and surrounding space.
    pub fn get(&self, name: &str) -> Result<&AgentDefinition, UnknownAgent> {
        self.find(name, |_| true)
    }

    /// An agent to delegate to, by the same rule.
    pub fn get_delegable(&self, name: &str) -> Result<&AgentDefinition, UnknownAgent> {
        self.find(name, |agent| agent.delegable)
    }

    fn find(&self, name: &str, eligible: impl Fn(&AgentDefinition) -> bool) -> Result<&AgentDefinition, UnknownAgent> {
        let candidates = || self.agents.iter().filter(|agent| eligible(agent));
        let wanted = name.trim();
        candidates()
            .find(|agent| agent.name == wanted)
            .or_else(|| candidates().find(|agent| goes_by(agent, wanted)))
            .ok_or_else(|| UnknownAgent {
                asked: name.to_owned(),
                known: candidates().map(|agent| agent.name.clone()).collect(),
            })
    }
}

fn goes_by(agent: &AgentDefinition, name: &str) -> bool {
    agent.name.eq_ignore_ascii_case(name) || agent.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
}
