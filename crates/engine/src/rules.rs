//! What holds for all tasks of one engine, and what can be refused before anything is started or opened.

use std::time::Duration;

use sortie_agents::{AgentDefinition, Registry};
use sortie_contract::Contract;
use sortie_llm::{Chosen, Models};
use sortie_protocol::{Failure, Limits, ModelChoice, TaskRequest};

use crate::instructions::InstructionRules;

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
    /// Whether a call may name the model of the task that it starts.
    pub allow_model_override: bool,
    pub instructions: InstructionRules,
}

/// All that has a say in which model serves a task, strongest first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelWish<'a> {
    pub(crate) kind: Kind,
    /// By the request.
    pub(crate) asked: Option<&'a str>,
    /// By the agent's own definition.
    pub(crate) definition: &'a AgentDefinition,
    /// By the contract, for this type of agent.
    pub(crate) type_default: Option<&'a str>,
    /// What the one who delegates has itself.
    pub(crate) parents: Option<&'a ModelChoice>,
}

/// Said of a model, it means the parent's, whatever the definition says.
const INHERIT: &str = "inherit";

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
            allow_model_override: true,
            instructions: InstructionRules::default(),
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
    contract: &dyn Contract,
    rules: &Rules,
) -> Result<(), Failure> {
    rules.check_prompt(&request.prompt)?;
    let definition = definition(agents, &request.agent, kind)?;
    let type_default = contract.default_model(&definition.name);
    let wish = ModelWish { kind, asked: request.model.as_deref(), definition, type_default, parents: None };
    rules.choose_model(models, wish).map(drop)
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

    /// The model that serves: call, then agent file, then type, then parent.
    pub(crate) fn choose_model(&self, models: &dyn Models, wish: ModelWish<'_>) -> Result<Chosen, Failure> {
        let ModelWish { kind, asked, definition, type_default, parents } = wish;
        // A main agent's model is a person's choice, not a call's.
        if let (Kind::Delegated, Some(model), false) = (kind, asked, self.allow_model_override) {
            let message = format!(
                "a call may not choose its model here (`task_tool.allow_model_override` is false); leave out `{model}`"
            );
            return Err(Failure::new("model_override", message));
        }
        let wanted = asked.or(definition.model.as_deref()).or(type_default).filter(|&model| model != INHERIT);
        models.choose(wanted, parents).map_err(|error| {
            let said_by = match asked {
                None if definition.model.is_some() => format!("agent {}: ", definition.name),
                _ => String::new(),
            };
            Failure::new("unknown_model", format!("{said_by}{error}"))
        })
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
