//! What holds for all tasks of one engine, and what can be refused before anything is started or opened.

use std::time::Duration;

use sortie_agents::{AgentDefinition, Registry};
use sortie_contract::{Contract, Defaults};
use sortie_llm::route::{AUTO, MAIN_ROUTE};
use sortie_llm::{Chosen, Models, UnknownModel};
use sortie_protocol::{AgentConfig, Failure, FailureCode, Limits, ModelChoice, Money, TaskRequest};

use crate::resolve::auto_model::pick;
use crate::resolve::instructions::InstructionRules;

/// Table of settings of the main route. A failure due to it says that this route is set and cannot be used.
pub const MAIN_ROUTE_SETTING: &str = "routes.main";

/// The setting that names the model of sub-agents.
const MODEL_SETTING: &str = "task_tool.model";

/// What holds for all tasks of one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own, that a person turns by its name")]
pub struct Rules {
    /// Whether agents may delegate at all.
    pub delegation: bool,
    /// A task of this depth cannot delegate. A main agent has depth 0.
    pub max_depth: u32,
    /// Delegated tasks that work at the same time; more wait in order.
    pub max_concurrent: usize,
    /// Tasks that one tree may start.
    pub max_children: u32,
    /// Tasks that may be delegated within a minute, in all trees.
    pub delegations_per_minute: Option<u32>,
    /// Of delegated tasks; a main agent has none unless asked for.
    pub default_timeout: Duration,
    /// Of every delegated task with its descendants.
    pub max_tokens: Option<u64>,
    /// The same in US dollars.
    pub max_cost: Option<Money>,
    /// The model of delegated tasks for which nobody else names one; their parent's if absent.
    pub model: Option<String>,
    pub max_prompt_bytes: usize,
    /// Whether a call may name the model of the task that it starts.
    pub allow_model_override: bool,
    /// Whether a call may start a task that it does not wait for, where the contract has such calls.
    pub background: bool,
    /// How long after its end a call may go on with a task; `None`: never. A person may at any time.
    pub resume_within: Option<Duration>,
    /// Whether the built-in agents can be named even where the contract shows only those from files.
    pub builtin_agents: bool,
    pub instructions: InstructionRules,
    /// The working directory relative to the workspace, for contracts that tell it: `.` at the root.
    pub cwd: String,
}

/// All that has a say in which model serves a task, strongest first.
#[derive(Debug, Clone, Copy)]
struct ModelWish<'a> {
    kind: Kind,
    /// By the request.
    asked: Option<&'a str>,
    brief: &'a str,
    /// By the agent's own definition.
    definition: &'a AgentDefinition,
    /// By the contract, for this type of agent.
    type_default: Option<&'a str>,
    /// What the one who delegates has itself.
    parents: Option<&'a ModelChoice>,
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
            delegations_per_minute: None,
            default_timeout: Duration::from_mins(5),
            max_tokens: None,
            max_cost: None,
            model: None,
            max_prompt_bytes: 1 << 20,
            allow_model_override: true,
            background: true,
            resume_within: Some(Duration::from_hours(7 * 24)),
            builtin_agents: false,
            instructions: InstructionRules::default(),
            cwd: ".".to_owned(),
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

impl Kind {
    /// The kind of a task at this depth.
    pub(crate) fn at(depth: u32) -> Self {
        if depth == 0 { Self::Main } else { Self::Delegated }
    }
}

/// Who asks for a new task, as far as the decisions about it are concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Requester<'a> {
    /// A person, who wants a main agent.
    Person,
    /// A program outside every task.
    Program,
    /// A task of this configuration.
    Task(&'a AgentConfig),
}

impl<'a> Requester<'a> {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Person => Kind::Main,
            Self::Program | Self::Task(_) => Kind::Delegated,
        }
    }

    pub(crate) fn parent(self) -> Option<&'a AgentConfig> {
        match self {
            Self::Person | Self::Program => None,
            Self::Task(parent) => Some(parent),
        }
    }

    /// The depth from which it delegates. A program delegates as a main agent does.
    pub(crate) fn depth(self) -> Option<u32> {
        match self {
            Self::Person => None,
            Self::Program => Some(0),
            Self::Task(parent) => Some(parent.depth),
        }
    }

    /// The depth of the new task.
    pub(crate) fn depth_of_task(self) -> u32 {
        self.depth().map_or(0, |depth| depth + 1)
    }
}

/// The model that a contract has for an agent's type.
fn type_default(defaults: &Defaults, definition: &AgentDefinition, kind: Kind) -> Option<&'static str> {
    let by_type = || defaults.type_of(&definition.name)?.model;
    (kind == Kind::Delegated).then(by_type).flatten()
}

impl Rules {
    /// What holds where nobody says otherwise, in this contract.
    pub fn of(contract: &dyn Contract) -> Self {
        let defaults = contract.defaults();
        let instructions =
            InstructionRules { for_children: defaults.inherit_context_files, ..InstructionRules::default() };
        Self {
            max_depth: defaults.max_depth,
            max_concurrent: defaults.max_concurrent,
            max_tokens: defaults.max_tokens,
            instructions,
            ..Self::default()
        }
    }

    /// Whether anybody may delegate.
    pub(crate) fn check_switched_on(&self) -> Result<(), Failure> {
        let why = "delegation is switched off (`task_tool.enabled` is false)";
        if self.delegation {
            Ok(())
        } else {
            Err(Failure::new(FailureCode::DelegationOff, why).due_to("task_tool.enabled"))
        }
    }

    /// How long after its end a call may go on with a task, if it may at all.
    pub(crate) fn check_resume(&self) -> Result<Duration, Failure> {
        let why = "going on with a task is switched off (`task_tool.resume` is false); start a new one";
        self.resume_within.ok_or_else(|| Failure::new(FailureCode::ResumeOff, why).due_to("task_tool.resume"))
    }

    /// Whether a task of this depth may delegate.
    pub(crate) fn check_depth(&self, depth: u32) -> Result<(), Failure> {
        self.check_switched_on()?;
        if depth >= self.max_depth {
            return Err(Failure::new(FailureCode::Depth, "maximum sub-agent depth exceeded; do this part yourself"));
        }
        Ok(())
    }

    pub(crate) fn check_prompt(&self, request: &TaskRequest) -> Result<(), Failure> {
        self.check_words(&request.prompt)?;
        self.check_size("description", &request.title)
    }

    /// Whether this can be said to a task.
    pub(crate) fn check_words(&self, prompt: &str) -> Result<(), Failure> {
        if prompt.trim().is_empty() {
            return Err(Failure::new(FailureCode::EmptyPrompt, "the prompt is empty; say what is to be done"));
        }
        self.check_size("prompt", prompt)
    }

    fn check_size(&self, what: &str, text: &str) -> Result<(), Failure> {
        let (size, max) = (text.len(), self.max_prompt_bytes);
        if size <= max {
            return Ok(());
        }
        let message = format!("the {what} has {size} bytes; the limit is {max} (`task_tool.max_prompt_bytes`)");
        Err(Failure::new(FailureCode::PromptTooLong, message).due_to("task_tool.max_prompt_bytes"))
    }

    /// The model that serves a request with this agent.
    pub(crate) fn model_for(
        &self,
        requester: Requester<'_>,
        definition: &AgentDefinition,
        request: &TaskRequest,
        models: &dyn Models,
        contract: &dyn Contract,
    ) -> Result<Chosen, Failure> {
        let wish = ModelWish {
            kind: requester.kind(),
            asked: request.model.as_deref(),
            brief: &request.prompt,
            definition,
            type_default: type_default(&contract.defaults(), definition, requester.kind()),
            parents: requester.parent().map(|parent| &parent.model).or(request.lent_model.as_ref()),
        };
        self.choose_model(models, wish)
    }

    /// The model that serves: call, then agent file, then type, then these rules, then parent.
    fn choose_model(&self, models: &dyn Models, wish: ModelWish<'_>) -> Result<Chosen, Failure> {
        let ModelWish { kind, asked, brief, definition, type_default, parents } = wish;
        // A main agent's model is a person's choice, not a call's.
        if let (Kind::Delegated, Some(model), false) = (kind, asked, self.allow_model_override) {
            let message = format!(
                "a call may not choose its model here (`task_tool.allow_model_override` is false); leave out `{model}`"
            );
            return Err(Failure::new(FailureCode::ModelOverride, message).due_to("task_tool.allow_model_override"));
        }
        let by_rule = self.model.as_deref().filter(|_| kind == Kind::Delegated);
        let wanted =
            asked.or(definition.model.as_deref()).or(type_default).or(by_rule).filter(|&model| model != INHERIT);
        let picked = wanted.filter(|model| model.eq_ignore_ascii_case(AUTO)).map(|_| pick(definition, brief));
        let wanted = picked.as_ref().map_or(wanted, |picked| Some(picked.route));
        let chosen = models.choose(wanted, parents).map_err(|error| {
            let is_by_rule =
                asked.is_none() && definition.model.is_none() && type_default.is_none() && by_rule.is_some();
            let said_by = match asked {
                None if definition.model.is_some() => format!("agent {}: ", definition.name),
                None if is_by_rule => format!("`{MODEL_SETTING}`: "),
                _ => String::new(),
            };
            let code = match &error {
                UnknownModel::Nobody { .. } => FailureCode::UnknownModel,
                // The call is right, the way to the model is not.
                UnknownModel::Unusable { .. } => FailureCode::ModelSetup,
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

    /// What bounds every task of a kind unless its request tightens it.
    pub(crate) fn limits(&self, kind: Kind) -> Limits {
        match kind {
            Kind::Main => Limits::default(),
            Kind::Delegated => Limits {
                timeout: Some(self.default_timeout),
                max_tokens: self.max_tokens,
                max_cost: self.max_cost,
                ..Limits::default()
            },
        }
    }
}

/// The agent that serves a request: the one that it names, or, where the contract says so, the one that fits best.
pub(crate) struct Serving<'a> {
    pub(crate) definition: &'a AgentDefinition,
    /// Set where another agent serves than the one that was named.
    pub(crate) notice: Option<String>,
}

pub(crate) fn serving<'a>(
    agents: &'a Registry,
    request: &TaskRequest,
    kind: Kind,
    best_match: bool,
) -> Result<Serving<'a>, Failure> {
    let unknown = match kind {
        Kind::Main => agents.get(&request.agent),
        Kind::Delegated => agents.get_delegable(&request.agent),
    };
    let unknown = match unknown {
        Ok(definition) => return Ok(Serving { definition, notice: None }),
        Err(unknown) => unknown,
    };
    // A name that a broken file claims is not free: nobody stands in for the agent that it was meant to be.
    if kind == Kind::Delegated && best_match && unknown.absent.is_empty() {
        let wanted = format!("{} {}", request.title, request.agent);
        let ranking = sortie_agents::rank(agents, &wanted);
        if let Some(best) = ranking.best().map(|best| best.agent).filter(|agent| agent.delegable) {
            let notice = format!("there is no agent `{}`; `{}` fits best and serves", request.agent, best.name);
            return Ok(Serving { definition: best, notice: Some(notice) });
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

/// What bounds the turns of an agent for a request that asks for so many, and what to say where that is fewer.
///
/// What a file says of its agent is its author's bound. Where it says nothing, and of a built-in agent, the number is only
/// what is usual, and a call may choose up to the most that the contract lets it ask for. A main agent's number is its own.
pub(crate) fn turns(
    definition: &AgentDefinition,
    asked: Option<u32>,
    defaults: &Defaults,
    kind: Kind,
) -> (Option<u32>, Option<String>) {
    let (usual, most_asked) = match kind {
        Kind::Main => (definition.limits.max_turns, None),
        Kind::Delegated => (definition.limits.max_turns.or(Some(defaults.max_turns)), defaults.max_turns_asked),
    };
    let is_bound = definition.origin.path.is_some() && definition.limits.max_turns.is_some();
    let bound = most_asked.filter(|_| asked.is_some() && !is_bound).max(usual);
    let notice = match (asked, bound) {
        (Some(asked), Some(bound)) if asked > bound => {
            // A number that is too large to be counted with has been made the largest.
            let asked = if asked == u32::MAX { format!("{asked} or more") } else { asked.to_string() };
            Some(format!("{asked} turns were asked for; `{}` has {bound}", definition.name))
        }
        _ => None,
    };
    (bound, notice)
}

/// What to say where a request asks for more than it gets, but for turns, of which [`turns`] tells.
pub(crate) fn lowered(asked: Limits, given: Limits) -> impl Iterator<Item = String> {
    fn less<T: PartialOrd>(asked: Option<T>, given: Option<T>, said: impl Fn(T) -> String) -> Option<String> {
        let (asked, given) = (asked?, given?);
        (asked > given).then(|| format!("a limit of {} was asked for; {} hold", said(asked), said(given)))
    }
    let seconds = |time: Duration| format!("{} seconds", time.as_secs_f64());
    let notices = [
        less(asked.max_tokens, given.max_tokens, |tokens| format!("{tokens} tokens")),
        less(asked.max_cost, given.max_cost, |cost| cost.to_string()),
        less(asked.timeout, given.timeout, seconds),
        less(asked.max_children, given.max_children, |children| format!("{children} sub-agents")),
    ];
    notices.into_iter().flatten()
}
