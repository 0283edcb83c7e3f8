//! The model that serves a request: named by a call, an agent file, the contract, the settings or the parent.

mod auto_model;

use sortie_agents::AgentDefinition;
use sortie_contract::{Contract, Defaults};
use sortie_llm::route::{AUTO, MAIN_ROUTE};
use sortie_llm::{Chosen, Models, UnknownModel};
use sortie_protocol::{Failure, FailureCode, ModelChoice, TaskRequest};

use self::auto_model::pick;
use crate::resolve::settings::{EngineSettings, Requester, TaskKind};

/// Table of the main route in the settings. A failure with this name means that the route is set but cannot be used.
pub const MAIN_ROUTE_SETTING: &str = "routes.main";

/// The setting that names the model of sub-agents.
const MODEL_SETTING: &str = "task_tool.model";

/// A model name that means the parent's model, whatever the definition says.
const INHERIT: &str = "inherit";

/// The request for which a model is chosen.
#[derive(Clone, Copy)]
pub(crate) struct ModelQuery<'a> {
    pub(crate) requester: Requester<'a>,
    pub(crate) definition: &'a AgentDefinition,
    pub(crate) request: &'a TaskRequest,
}

/// Sources of the model choice, strongest first.
#[derive(Debug, Clone, Copy)]
struct ModelWish<'a> {
    kind: TaskKind,
    /// Model named in the request.
    asked: Option<&'a str>,
    brief: &'a str,
    /// The agent's definition, which may name a model.
    definition: &'a AgentDefinition,
    /// Model that the contract names for this type of agent.
    type_default: Option<&'a str>,
    /// The parent's model.
    parents: Option<&'a ModelChoice>,
}

/// Chooses the model that serves a request.
pub(crate) fn choose_model(
    rules: &EngineSettings,
    contract: &dyn Contract,
    models: &dyn Models,
    query: ModelQuery<'_>,
) -> Result<Chosen, Failure> {
    choose(rules, models, ModelWish::of(contract, query))
}

/// Returns the model's name as the request, the agent's file, its type or the settings ask for it.
pub(crate) fn asked_model<'a>(
    rules: &'a EngineSettings,
    contract: &dyn Contract,
    query: ModelQuery<'a>,
) -> Option<&'a str> {
    ModelWish::of(contract, query).wanted(rules)
}

impl<'a> ModelWish<'a> {
    fn of(contract: &dyn Contract, query: ModelQuery<'a>) -> Self {
        let ModelQuery { requester, definition, request } = query;
        Self {
            kind: requester.kind(),
            asked: request.model.as_deref(),
            brief: &request.prompt,
            definition,
            type_default: type_default(&contract.defaults(), definition, requester.kind()),
            parents: requester.parent().map(|parent| &parent.model).or(request.lent_model.as_ref()),
        }
    }

    fn by_rule(&self, rules: &'a EngineSettings) -> Option<&'a str> {
        rules.model.as_deref().filter(|_| self.kind == TaskKind::Delegated)
    }

    /// Call, agent file, type and settings, in this order; `None` means the parent's model.
    fn wanted(&self, rules: &'a EngineSettings) -> Option<&'a str> {
        let named = self.asked.or(self.definition.model.as_deref()).or(self.type_default);
        named.or_else(|| self.by_rule(rules)).filter(|&model| model != INHERIT)
    }
}

/// Fails if the chosen model's own server does not have it. `named_by` is the agent whose file names it, if one does.
pub(crate) async fn confirm_model(
    models: &dyn Models,
    choice: &ModelChoice,
    named_by: Option<&str>,
) -> Result<(), Failure> {
    let confirmed = models.confirm(choice).await;
    confirmed.map_err(|unknown| {
        let said_by = named_by.map(|agent| format!("agent {agent}: ")).unwrap_or_default();
        Failure::new(FailureCode::UnknownModel, format!("{said_by}{unknown}"))
    })
}

/// Chooses by call, agent file, type, settings and parent, in this order.
fn choose(rules: &EngineSettings, models: &dyn Models, wish: ModelWish<'_>) -> Result<Chosen, Failure> {
    let ModelWish { kind, asked, brief, definition, type_default, parents } = wish;
    // A main agent's model is a person's choice, not a call's.
    if let (TaskKind::Delegated, Some(model), false) = (kind, asked, rules.allow_model_override) {
        let message = format!(
            "a call may not choose its model here (`task_tool.allow_model_override` is false); leave out `{model}`"
        );
        return Err(Failure::new(FailureCode::ModelOverride, message).due_to("task_tool.allow_model_override"));
    }
    let (by_rule, wanted) = (wish.by_rule(rules), wish.wanted(rules));
    let picked = wanted.filter(|model| model.eq_ignore_ascii_case(AUTO)).map(|_| pick(definition, brief));
    let wanted = picked.as_ref().map_or(wanted, |picked| Some(picked.route));
    let chosen = models.choose(wanted, parents).map_err(|error| {
        let is_by_rule = asked.is_none() && definition.model.is_none() && type_default.is_none() && by_rule.is_some();
        let said_by = match asked {
            None if definition.model.is_some() => format!("agent {}: ", definition.name),
            None if is_by_rule => format!("`{MODEL_SETTING}`: "),
            _ => String::new(),
        };
        let code = match &error {
            UnknownModel::Nobody { .. } => FailureCode::UnknownModel,
            // The call is right, but the route to the model is not.
            UnknownModel::Unusable { .. } => FailureCode::ModelSetup,
            UnknownModel::NotSet => FailureCode::NoModel,
        };
        let failure = Failure::new(code, format!("{said_by}{error}"));
        match error {
            UnknownModel::Unusable { asked, .. } if asked == MAIN_ROUTE => failure.due_to(MAIN_ROUTE_SETTING),
            _ if is_by_rule => failure.due_to(MODEL_SETTING),
            _ => failure,
        }
    })?;
    let notices: Vec<String> = picked.map(|picked| picked.notice).into_iter().chain(chosen.notice).collect();
    Ok(Chosen { notice: (!notices.is_empty()).then(|| notices.join("; ")), ..chosen })
}

/// Returns the contract's model for an agent's type.
fn type_default(defaults: &Defaults, definition: &AgentDefinition, kind: TaskKind) -> Option<&'static str> {
    let by_type = || defaults.type_of(&definition.name)?.model;
    (kind == TaskKind::Delegated).then(by_type).flatten()
}
