//! Dry run of the recipe: tells if a request could start, and what its agent would be granted. Opens and starts
//! nothing.

use std::path::PathBuf;
use std::sync::Arc;

use sortie_agents::{AgentDefinition, Registry};
use sortie_contract::Contract;
use sortie_llm::Models;
use sortie_policy::{Judge, Places};
use sortie_protocol::{AgentConfig, Failure, FailureCode, Grant, GrantLayer, ModelChoice, TaskRequest};
use sortie_tools::Commands;

use crate::resolve::choose_agent::{ChosenAgent, StandIn, serving};
use crate::resolve::choose_model::{ModelQuery, choose_model};
use crate::resolve::configuration::{ConfigRequest, GrantFrame};
use crate::resolve::contract_agents::{cast, mains};
use crate::resolve::roster::{standard, task_tool};
use crate::resolve::settings::{EngineSettings, Requester, TaskKind};
use crate::tasks::start::check::{AgentChoice, Checks};

/// Everything that decides about a start.
#[derive(Clone, Copy)]
pub struct DryRun<'a> {
    pub agents: &'a Registry,
    pub contract: &'a Arc<dyn Contract>,
    pub rules: &'a EngineSettings,
    /// The user's layers, which bind every task before its agent's own.
    pub layers: &'a [GrantLayer],
    /// Names of remote tools, assumed to exist: nothing is started to find out.
    pub remote: &'a [String],
}

impl DryRun<'_> {
    /// Checks whether a request can start, before an engine is made for it. If it names a task, checks that need to
    /// read the task are skipped.
    pub fn check(&self, request: &TaskRequest, kind: TaskKind, models: &dyn Models) -> Result<(), Failure> {
        let requester = match kind {
            TaskKind::Main => Requester::Person,
            TaskKind::Delegated => Requester::Program { depth: 0 },
        };
        let agents = self.agents_for(kind);
        // Paths do not matter to rules about agents, so any home directory will do.
        let places = Places { home: Some(PathBuf::from("/")), ..Places::default() };
        let judge = (kind == TaskKind::Delegated).then(|| Judge::new(&Grant { layers: self.layers.to_vec() }, places));
        let judge = judge.transpose().map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
        let checks = Checks { judge: judge.map(Arc::new), ..self.checks(&agents) };
        if request.resume.is_some() {
            checks.follow_up(requester, request.clone())?;
            let names_agent = !request.agent.is_empty() && !request.agent_is_usual;
            if !names_agent && request.model.is_none() {
                return Ok(());
            }
            // The task keeps its own agent; but an agent named with it must exist, and be allowed.
        }
        let checked = checks.new_task(requester, AgentChoice::Named, request.clone())?;
        let (definition, contract) = (checked.serving.definition, self.contract.as_ref());
        let query = ModelQuery { requester, definition, request: &checked.request };
        choose_model(self.rules, contract, models, query).map(drop)
    }

    /// Returns the configuration of an agent that runs as the main agent.
    pub fn of_main(&self, name: &str) -> Result<AgentConfig, Failure> {
        self.config(name, Requester::Person)
    }

    /// Returns the configuration of an agent that `parent` delegates to.
    pub fn below(&self, parent: &AgentConfig, name: &str) -> Result<AgentConfig, Failure> {
        self.config(name, Requester::Task(parent))
    }

    /// Returns the agent that would serve a call with this name, and a notice if it is another one. A call's title can
    /// also influence the choice, but is not known here.
    pub fn serving(&self, name: &str) -> Result<(AgentDefinition, Option<String>), Failure> {
        let agents = self.agents_for(TaskKind::Delegated);
        let standing_in = StandIn::of(&self.contract.defaults());
        let ChosenAgent { definition, notice } =
            serving(&agents, &request_for(name), TaskKind::Delegated, standing_in)?;
        Ok((definition.clone(), notice))
    }

    /// Fails if a task of this depth cannot delegate at all, whatever its grant allows.
    pub fn can_delegate(&self, depth: u32) -> Result<(), Failure> {
        self.rules.check_depth(depth)
    }

    /// Fails if `parent` cannot start an agent of this name, whatever its rules allow.
    pub fn can_start(&self, parent: &AgentConfig, name: &str) -> Result<(), Failure> {
        let agents = self.agents_for(TaskKind::Delegated);
        let request = TaskRequest { prompt: "-".to_owned(), ..request_for(name) };
        self.checks(&agents).new_task(Requester::Task(parent), AgentChoice::Named, request).map(drop)
    }

    fn checks<'a>(&'a self, agents: &'a Registry) -> Checks<'a> {
        let (rules, contract, layers) = (self.rules, self.contract.as_ref(), self.layers);
        Checks { rules, contract, agents, templates: agents.templates(), layers, judge: None }
    }

    fn agents_for(&self, kind: TaskKind) -> Registry {
        match kind {
            TaskKind::Main => mains(self.agents, self.contract.as_ref(), self.rules),
            TaskKind::Delegated => cast(self.agents, self.contract.as_ref(), self.rules),
        }
    }

    fn config(&self, name: &str, requester: Requester<'_>) -> Result<AgentConfig, Failure> {
        let Self { contract, rules, layers, remote, .. } = *self;
        let agents = self.agents_for(requester.kind());
        let request = request_for(name);
        let definition = serving(&agents, &request, requester.kind(), StandIn::Nobody)?.definition;
        let task_tool = Arc::new(task_tool(contract, &self.agents_for(TaskKind::Delegated), rules));
        let tools = standard(contract.as_ref(), Some(task_tool), Commands::Offered);
        let contract = contract.as_ref();
        let frame =
            GrantFrame { contract, rules, layers, tools: &tools, more_tools: remote, requester, has_person: true };
        // The model does not affect a grant.
        let model = ModelChoice { route: String::new(), id: String::new() };
        Ok(frame.configure(definition, ConfigRequest { request: &request, output_schema: None, model }).0)
    }
}

/// Returns a minimal request for this agent.
fn request_for(name: &str) -> TaskRequest {
    TaskRequest { agent: name.to_owned(), ..TaskRequest::default() }
}
