//! What holds for all tasks of one engine, and what can be refused before anything is started or opened.

use std::time::Duration;

use sortie_agents::{AgentDefinition, Registry};
use sortie_llm::Models;
use sortie_protocol::{Failure, Limits, ModelChoice, TaskRequest};

/// What holds for all tasks of one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Whether agents may delegate at all.
    pub delegation: bool,
    /// A task of this depth cannot delegate. A main agent has depth 0.
    pub max_depth: u32,
    /// Delegated tasks that work at the same time; more wait in order.
    pub max_concurrent: usize,
    /// Tasks that one tree may start.
    pub max_children: u32,
    /// Of delegated tasks; a main agent has none unless asked for.
    pub default_timeout: Duration,
    /// Of every delegated task with its descendants.
    pub max_tokens: Option<u64>,
    pub max_prompt_bytes: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            delegation: true,
            max_depth: 2,
            max_concurrent: 20,
            max_children: 200,
            default_timeout: Duration::from_mins(5),
            max_tokens: None,
            max_prompt_bytes: 1 << 20,
        }
    }
}

/// In which role a request is to be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As a main agent, which answers a person.
    Main,
    /// As a sub-agent, which reports to whoever delegates.
    Delegated,
}

/// Says whether a request can be started at all, before an engine is made for it.
pub fn preflight(
    request: &TaskRequest,
    kind: Kind,
    agents: &Registry,
    models: &dyn Models,
    rules: &Rules,
) -> Result<(), Failure> {
    rules.check_prompt(&request.prompt)?;
    let definition = definition(agents, &request.agent, kind)?;
    choose_model(models, definition, request.model.as_deref(), None).map(drop)
}

impl Rules {
    pub(crate) fn check_prompt(&self, prompt: &str) -> Result<(), Failure> {
        if prompt.trim().is_empty() {
            return Err(Failure::new("empty_prompt", "the prompt is empty; say what is to be done"));
        }
        let (size, max) = (prompt.len(), self.max_prompt_bytes);
        if size > max {
            let message = format!("the prompt has {size} bytes; the limit is {max} (`task_tool.max_prompt_bytes`)");
            return Err(Failure::new("prompt_too_long", message));
        }
        Ok(())
    }

    /// What bounds every task of a kind unless its request tightens it.
    pub(crate) fn limits(&self, kind: Kind) -> Limits {
        match kind {
            Kind::Main => Limits::default(),
            Kind::Delegated => {
                Limits { timeout: Some(self.default_timeout), max_tokens: self.max_tokens, ..Limits::default() }
            }
        }
    }
}

/// The agent that a name means for a request of this kind.
pub(crate) fn definition<'a>(agents: &'a Registry, name: &str, kind: Kind) -> Result<&'a AgentDefinition, Failure> {
    let found = match kind {
        Kind::Main => agents.get(name),
        Kind::Delegated => agents.get_delegable(name),
    };
    found.map_err(|error| Failure::new("unknown_agent", error.to_string()))
}

/// The model: what the request asks for, else what the definition says, else the parent's.
pub(crate) fn choose_model(
    models: &dyn Models,
    definition: &AgentDefinition,
    asked: Option<&str>,
    parents: Option<&ModelChoice>,
) -> Result<ModelChoice, Failure> {
    models
        .choose(asked.or(definition.model.as_deref()), parents)
        .map_err(|error| Failure::new("unknown_model", error.to_string()))
}
