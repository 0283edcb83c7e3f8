//! What all tasks of one engine share, and what is decided for a new one.

use std::sync::{Arc, OnceLock};

use sortie_agents::{AgentDefinition, Resolution};
use sortie_contract::{Contract, ReportCap};
use sortie_journal::{Journal, JournalError};
use sortie_llm::Models;
use sortie_policy::Places;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Job, Limits, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Changes, ShellSetup};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::slots::Slot;
use crate::budget::start_rate::DelegationRate;
use crate::conversation::request_size::Counting;
use crate::conversation::schema_answer::asked_for;
use crate::log::notes::Boards;
use crate::log::writer::{Hold, Sink};
use crate::messages::running_tasks::Present;
use crate::ports::approval::Desk;
use crate::ports::hooks::Hooks;
use crate::resolve::contract_agents::conduct;
use crate::resolve::grant_preview::{drop_idle, tools_at};
use crate::resolve::instructions::Instructions;
use crate::resolve::permissions::Permissions;
use crate::resolve::remote_tools::Equipping;
use crate::resolve::remote_tools::RemoteTools;
use crate::resolve::roster::{Roster, Rosters, undescribed};
use crate::resolve::settings::{Kind, ModelWish, Rules, Serving, lowered, turns, type_default};
use crate::tasks::observers::{Asked, Audience};
use crate::tasks::result_cache::Cache;
use crate::tasks::task::Task;
use crate::{Clock, Ids};

/// A title is a few words; what is longer is cut, for everybody who lists tasks.
const MAX_TITLE_CHARS: usize = 200;

/// The engine itself is broken; what a task can end as is in its outcome.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the task was aborted from outside")]
    Aborted,
}

pub(crate) struct EngineState {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) rosters: Rosters,
    pub(crate) remote_tools: Arc<dyn RemoteTools>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) shell: Option<Arc<ShellSetup>>,
    /// The same with walls, for tasks that were started with them; made when the first of them goes on.
    pub(crate) confined: OnceLock<Arc<ShellSetup>>,
    /// Who changes files at the same time.
    pub(crate) changes: Arc<Changes>,
    pub(crate) reports: Arc<SpillDir>,
    pub(crate) rules: Rules,
    pub(crate) permissions: Permissions,
    /// Of the judges of all tasks.
    pub(crate) places: Places,
    pub(crate) desk: Arc<Desk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) delegation_rate: DelegationRate,
    pub(crate) counting: Arc<Counting>,
    pub(crate) audience: Audience,
    pub(crate) present: Arc<Present>,
    pub(crate) boards: Boards,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) hooks: Arc<dyn Hooks>,
}

impl EngineState {
    pub(crate) fn sink(&self, job: &Arc<Job>, hold: Hold) -> Sink {
        Sink::new(Arc::clone(&self.journal), Arc::clone(&self.clock), Arc::clone(job), hold)
    }

    /// The way to the remote tools of a task.
    pub(crate) fn equipping(&self) -> Equipping<'_> {
        Equipping {
            remote_tools: self.remote_tools.as_ref(),
            contract: self.contract.as_ref(),
            rules: &self.rules,
            permissions: &self.permissions,
        }
    }

    /// Decides all that there is to decide for a task without a parent, and starts nothing.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        roster: &Arc<Roster>,
        serving: Serving<'_>,
        kind: Kind,
        request: TaskRequest,
    ) -> Result<Task, Failure> {
        let asked = Asked::from(&request);
        let (config, request) = self.resolve(roster, serving, (kind, None), request)?;
        let whole_tree = Limits { max_children: Some(self.rules.max_children), ..Limits::default() };
        let account = Account::of_root(config.limits.tighter(whole_tree));
        account.check_prices(&config.model, &self.models.terms(&config.model).prices)?;
        let job = Arc::new(self.job(request, config, None));
        let sink = self.sink(&job, Hold::FIRST);
        let slot = match kind {
            Kind::Main => Slot::unlimited(Arc::clone(&account)),
            Kind::Delegated => Slot::of(Arc::clone(&self.slots), sink.clone(), Arc::clone(&account)),
        };
        Ok(Task {
            engine: Arc::clone(self),
            roster: Arc::clone(roster),
            sink,
            asked,
            job,
            account,
            cancel: CancellationToken::new(),
            slot: Arc::new(slot),
            approvals: Arc::default(),
            address: None,
            inbox: Arc::default(),
            hook_notices: Vec::new(),
            past: None,
        })
    }

    /// Counts a task that is about to be delegated, unless there have been too many of late.
    pub(crate) fn check_rate(&self) -> Result<(), Failure> {
        self.delegation_rate.count(self.rules.delegations_per_minute)
    }

    /// Whether a request may ask for work that nobody waits for.
    pub(crate) fn check_background(&self, request: &TaskRequest) -> Result<(), Failure> {
        let is_known = self.contract.defaults().companions && self.rules.background;
        if !request.background || is_known {
            return Ok(());
        }
        let message = "`run_in_background` is switched off here (`task_tool.background`); call again without it";
        Err(Failure::new(FailureCode::BackgroundOff, message))
    }

    /// From an agent's definition to its configuration for one task: below a parent, or without one. What should be
    /// known of the decisions is added to the request's notices.
    pub(crate) fn resolve(
        &self,
        roster: &Roster,
        Serving { definition, notice }: Serving<'_>,
        (kind, parent): (Kind, Option<&AgentConfig>),
        mut request: TaskRequest,
    ) -> Result<(AgentConfig, TaskRequest), Failure> {
        // A delegated task without a parent stands where a main agent's child would stand.
        let depth = match (kind, parent) {
            (Kind::Main, _) => 0,
            (Kind::Delegated, None) => 1,
            (Kind::Delegated, Some(parent)) => parent.depth + 1,
        };
        let defaults = self.contract.defaults();
        request.notices.extend(roster.notices().chain(notice));
        let wish = ModelWish {
            kind,
            asked: request.model.as_deref(),
            brief: &request.prompt,
            definition,
            type_default: type_default(&defaults, definition, kind),
            parents: parent.map(|parent| &parent.model).or(request.lent_model.as_ref()),
        };
        let chosen = self.rules.choose_model(self.models.as_ref(), wish)?;
        request.notices.extend(chosen.notice);
        let (max_turns, fewer_turns) = turns(definition, request.limits.max_turns, &defaults, kind);
        request.notices.extend(fewer_turns);
        request.notices.extend(undescribed(&roster.agents).filter(|_| kind == Kind::Main));
        let mut tools = tools_at(&roster.tools, self.contract.as_ref(), &self.rules, depth);
        if parent.is_none() && !self.permissions.approver.is_present() {
            // Neither a parent nor a person could answer.
            tools.retain(|tool| tool != "Ask");
        }
        let mut config = sortie_agents::resolve(Resolution {
            definition: &AgentDefinition { limits: Limits { max_turns, ..definition.limits }, ..definition.clone() },
            parent,
            root_layers: &self.permissions.layers,
            asked: request.limits,
            output_schema: request.output_schema.take(),
            default_limits: self.rules.limits(kind),
            model: chosen.choice,
            depth,
            tools: &tools,
        });
        if kind == Kind::Delegated {
            conduct(&mut config, &defaults, &request, &tools);
        }
        request.notices.extend(lowered(request.limits, config.limits));
        drop_idle(&mut config.tools, &roster.tools, self.contract.as_ref());
        config.server_tools = roster.server_tools(&config.tools);
        if kind == Kind::Main || self.rules.instructions.for_children {
            let guard = self.permissions.reading(&self.workspace);
            let guard = guard.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
            let instructions = Instructions::read(&self.workspace, &guard, &self.rules.instructions);
            let instructions = instructions.without_secrets(&self.permissions.redactor);
            config.system = instructions.after(&config.system);
            request.notices.extend(instructions.notices);
        }
        if let Some(schema) = &config.output_schema {
            config.system += &asked_for(schema)?;
        }
        Ok((config, request))
    }

    /// When a report of this agent is cut. A main agent's answer goes to a person, who can bear it whole.
    fn report_cap(&self, config: &AgentConfig) -> ReportCap {
        let defaults = self.contract.defaults();
        let own = defaults.type_of(&config.agent).and_then(|known| known.report_cap);
        if config.depth == 0 { ReportCap::None } else { own.unwrap_or(defaults.report_cap) }
    }

    /// The parcel that is run and recorded.
    pub(crate) fn job(&self, request: TaskRequest, config: AgentConfig, parent: Option<&Job>) -> Job {
        let task = self.ids.task();
        let (bytes, characters, lines, json_bytes) = match self.report_cap(&config) {
            ReportCap::None => (None, None, None, None),
            ReportCap::Bytes(bytes) => (Some(bytes), None, None, None),
            ReportCap::JsonBytes(bytes) => (None, None, None, Some(bytes)),
            ReportCap::Characters(characters) => (None, Some(characters), None, None),
            ReportCap::LinesOrBytes { lines, bytes } => (Some(bytes), None, Some(lines), None),
        };
        Job {
            task,
            parent: parent.map(|parent| parent.task),
            root: parent.map_or(task, |parent| parent.root),
            title: request.title.chars().take(MAX_TITLE_CHARS).collect(),
            prompt: request.prompt,
            workspace: self.workspace.root().display().to_string(),
            contract: self.contract.name().to_owned(),
            report_cap_bytes: bytes,
            report_cap_characters: characters,
            report_cap_lines: lines,
            report_cap_json_bytes: json_bytes,
            notices: request.notices,
            counted_percent: self.counting.percent(&config.model),
            reach: parent.map_or_else(|| self.reach(), |parent| parent.reach.clone()),
            config,
        }
    }
}
