//! The checks of a request, before anything is opened. A dry run makes the same checks.

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Registry, Templates};
use sortie_contract::Contract;
use sortie_policy::Judge;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Fork, Grant, GrantLayer, TaskRequest};

use crate::resolve::choose_agent::{ChosenAgent, StandIn, own_agent, serving};
use crate::resolve::permissions::refuse_denied;
use crate::resolve::roster::Roster;
use crate::resolve::settings::{EngineSettings, Requester, TaskKind};
use crate::tasks::start::origin::Origin;
use crate::tasks::state::EngineState;

/// Everything that a request is checked against.
pub(crate) struct Checks<'a> {
    pub(crate) rules: &'a EngineSettings,
    pub(crate) contract: &'a dyn Contract,
    /// Agents that the request can choose.
    pub(crate) agents: &'a Registry,
    pub(crate) templates: &'a Templates,
    /// Layers that bind every task of the engine.
    pub(crate) layers: &'a [GrantLayer],
    /// The judge of delegations; `None` for a main agent.
    pub(crate) judge: Option<Arc<Judge>>,
}

/// A request's choice of its agent.
#[derive(Clone, Copy)]
pub(crate) enum AgentChoice<'a> {
    /// The request names the agent; the prompt may call a template.
    Named,
    /// Chosen by the caller, whose prompt is taken word for word.
    Made(&'a AgentDefinition),
}

/// A request that passed, and the agent that serves it.
pub(crate) struct Checked<'a> {
    pub(crate) serving: ChosenAgent<'a>,
    pub(crate) request: TaskRequest,
    /// Set if the task begins with its caller's conversation.
    pub(crate) fork: Option<ForkWish>,
}

/// Fork of a task that calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ForkWish {
    pub(crate) fork: Fork,
    /// True if the child continues as its parent.
    pub(crate) as_parent: bool,
}

impl<'a> Checks<'a> {
    pub(crate) fn of(engine: &'a EngineState, origin: &Origin<'_>, roster: &'a Roster) -> Result<Self, Failure> {
        Ok(Self {
            rules: &engine.rules,
            contract: engine.contract.as_ref(),
            agents: roster.agents_for(origin.requester().kind()),
            templates: roster.templates(),
            layers: &engine.permissions.layers,
            judge: (origin.requester().kind() == TaskKind::Delegated).then(|| origin.judge(engine)).transpose()?,
        })
    }

    /// Checks a request for a new task, and returns the agent that serves it.
    pub(crate) fn new_task(
        &self,
        requester: Requester<'_>,
        choice: AgentChoice<'a>,
        request: TaskRequest,
    ) -> Result<Checked<'a>, Failure> {
        self.words(requester, &request)?;
        let request = match (requester.kind(), choice) {
            (TaskKind::Delegated, AgentChoice::Named) => {
                self.templates.applied(request, self.rules.max_prompt_bytes)?
            }
            // A person's own prompt has been expanded before.
            (TaskKind::Main, _) | (_, AgentChoice::Made(_)) => request,
        };
        let mut request = request;
        let serving = self.serving(requester, choice, &request);
        if let Ok(serving) = &serving {
            self.circle(requester, serving.definition)?;
        }
        self.depth(requester)?;
        let serving = serving?;
        self.denied(serving.definition)?;
        self.missing_tools(requester, serving.definition)?;
        let fork = fork_wish(requester, serving.definition, &mut request)?;
        Ok(Checked { serving, request, fork })
    }

    /// Checks a request for the next leg of an ended task. Its own agent serves, whichever one is named.
    pub(crate) fn follow_up(&self, requester: Requester<'_>, request: TaskRequest) -> Result<TaskRequest, Failure> {
        self.words(requester, &request)?;
        self.depth(requester)?;
        if request.fork.is_some_and(|fork| fork != Fork::Off) {
            return Err(kept("conversation", "fork"));
        }
        if request.context_files.is_some() {
            return Err(kept("system prompt", "context_files"));
        }
        if request.reads_only {
            let message = "a resumed task keeps its own permissions, so a tool that only reads resumes none; use the \
                           other tool, or start a new task";
            return Err(Failure::new(FailureCode::InvalidArguments, message));
        }
        self.templates.applied(request, self.rules.max_prompt_bytes)
    }

    /// Refuses to resume a task whose agent could not be started now. A missing agent is refused later, when the grant
    /// is renewed.
    pub(crate) fn stored_agent(&self, agent: &str) -> Result<(), Failure> {
        self.agents.get(agent).map_or(Ok(()), |definition| self.denied(definition))
    }

    /// Refuses to delegate if that is switched off, and at the depth limit.
    pub(crate) fn depth(&self, requester: Requester<'_>) -> Result<(), Failure> {
        requester.depth().map_or(Ok(()), |depth| self.rules.check_depth(depth))
    }

    /// Refuses an empty or too long prompt, and background work if that is switched off.
    fn words(&self, requester: Requester<'_>, request: &TaskRequest) -> Result<(), Failure> {
        self.rules.check_prompt(request)?;
        let has_background = self.contract.defaults().companions.allow_background() && self.rules.background;
        if requester.kind() == TaskKind::Main || !request.background || has_background {
            return Ok(());
        }
        let message = "`run_in_background` is switched off here (`task_tool.background`); call again without it";
        Err(Failure::new(FailureCode::BackgroundOff, message))
    }

    fn serving(
        &self,
        requester: Requester<'_>,
        choice: AgentChoice<'a>,
        request: &TaskRequest,
    ) -> Result<ChosenAgent<'a>, Failure> {
        let AgentChoice::Made(definition) = choice else {
            if let Some(definition) = own_agent(self.agents, request, requester.parent()) {
                return Ok(ChosenAgent { definition, notice: None });
            }
            return serving(self.agents, request, requester.kind(), StandIn::of(&self.contract.defaults()));
        };
        let name = &definition.name;
        if !definition.delegable {
            return Err(Failure::new(
                FailureCode::UnknownAgent,
                format!("`{name}` is not an agent that can be delegated to"),
            ));
        }
        let is_meant = self.agents.get_delegable(&request.agent).is_ok_and(|meant| meant.name == *name);
        let notice = (!is_meant).then(|| format!("requested `{}`; `{name}` serves", request.agent));
        Ok(ChosenAgent { definition, notice })
    }

    /// Refuses an agent that is already running further up, if the contract does: it would wait for itself.
    fn circle(&self, requester: Requester<'_>, definition: &AgentDefinition) -> Result<(), Failure> {
        let refuses = self.contract.defaults().refuses_circles;
        requester.parent().filter(|_| refuses).map_or(Ok(()), |parent| refuse_circle(parent, &definition.name))
    }

    /// Refuses an agent that a rule denies.
    fn denied(&self, definition: &AgentDefinition) -> Result<(), Failure> {
        self.judge.as_ref().map_or(Ok(()), |judge| refuse_denied(judge, self.contract, definition))
    }

    /// Refuses a sub-agent that lists a tool which it would not get, if the contract does.
    fn missing_tools(&self, requester: Requester<'_>, definition: &AgentDefinition) -> Result<(), Failure> {
        if requester.kind() == TaskKind::Main || !self.contract.defaults().refuses_missing_tools {
            return Ok(());
        }
        let named: Vec<String> = definition.required_tools().into_iter().map(str::to_owned).collect();
        let of_user = || Grant { layers: self.layers.to_vec() };
        let grant = requester.parent().map_or_else(of_user, |parent| parent.grant.clone());
        let had = sortie_policy::offerable(&grant, &named);
        let missing: Vec<&str> = named.iter().filter(|tool| !had.contains(tool)).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let who = if requester.parent().is_some() { "that its parent may not use" } else { "that are denied here" };
        let message = format!("`{}` needs tools {who}: {}", definition.name, missing.join(", "));
        Err(Failure::new(FailureCode::ToolAccess, message).about(missing))
    }
}

fn kept(what: &str, field: &str) -> Failure {
    let message = format!("a resumed task keeps its own {what}; leave `{field}` out, or start a new task");
    Failure::new(FailureCode::InvalidArguments, message)
}

/// Returns the fork that a call or the agent's file asks for. Only a task at work has a conversation to fork.
fn fork_wish(
    requester: Requester<'_>,
    definition: &AgentDefinition,
    request: &mut TaskRequest,
) -> Result<Option<ForkWish>, Failure> {
    let Some(fork) = request.fork.or(definition.fork).filter(|fork| *fork != Fork::Off) else { return Ok(None) };
    let Some(parent) = requester.parent() else {
        let nothing = "there is no conversation to fork: no task makes this call";
        if request.fork.is_some() {
            let message = format!("{nothing}; leave `fork` out, and put into the prompt what the sub-agent must know");
            return Err(Failure::new(FailureCode::InvalidArguments, message));
        }
        request
            .notices
            .push(format!("agent `{}` asks for a fork, but {nothing}; its context is clean", definition.name));
        return Ok(None);
    };
    let as_parent = parent.agent == definition.name;
    if as_parent && request.context_files.is_some() {
        let message =
            "a fork of the caller keeps the caller's system prompt; leave `context_files` out, or name another agent";
        return Err(Failure::new(FailureCode::InvalidArguments, message));
    }
    Ok(Some(ForkWish { fork, as_parent }))
}

fn refuse_circle(parent: &AgentConfig, name: &str) -> Result<(), Failure> {
    let chain = &parent.chain;
    let Some(first) = chain.iter().position(|above| above == name) else { return Ok(()) };
    // The whole chain. It leaves out the main agent, to which nobody delegated, unless the circle begins there.
    let has_main = chain.len() > parent.depth as usize;
    let start = usize::from(has_main && first > 0);
    let circle: Vec<&str> = chain[start..].iter().map(String::as_str).chain([name]).collect();
    let message = format!("`{name}` is already running further up: {}; do this part yourself", circle.join(" -> "));
    Err(Failure::new(FailureCode::Circular, message).about(circle))
}
