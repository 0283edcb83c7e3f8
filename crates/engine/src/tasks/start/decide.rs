//! Decisions about a new task: its model, its configuration, its instructions; and the job that is run and recorded.

use std::sync::Arc;

use sortie_contract::ReportCap;
use sortie_policy::Judge;
use sortie_protocol::{AgentConfig, Failure, FailureCode, ForkedContext, Job, Limits, TaskRequest};
use sortie_sandbox::Guard;

use crate::conversation::schema_answer::asked_for;
use crate::resolve::choose_agent::ChosenAgent;
use crate::resolve::choose_model::{ModelQuery, asked_model, choose_model};
use crate::resolve::configuration::{ConfigRequest, GrantFrame};
use crate::resolve::instructions::Instructions;
use crate::resolve::permissions::path_guard::PathGuard;
use crate::resolve::roster::{Roster, undescribed};
use crate::resolve::settings::{TaskKind, lowered};
use crate::tasks::start::check::Checked;
use crate::tasks::start::fork::{Forked, as_parent, forked};
use crate::tasks::start::origin::Origin;
use crate::tasks::state::EngineState;

/// Longest title; the rest is cut, for everything that lists tasks.
const MAX_TITLE_CHARS: usize = 200;

/// Everything that is decided about a new task before its job is made.
pub(crate) struct Decision {
    pub(crate) config: AgentConfig,
    pub(crate) request: TaskRequest,
    /// Files whose text became part of the system prompt.
    pub(crate) context_files: Vec<String>,
    pub(crate) fork: Option<ForkedContext>,
}

/// Turns an agent's definition into the configuration of one task. Notices are added to the request's.
pub(crate) fn decide(
    engine: &EngineState,
    roster: &Roster,
    origin: &Origin<'_>,
    checked: Checked<'_>,
) -> Result<Decision, Failure> {
    let Checked { serving: ChosenAgent { definition, notice }, mut request, fork } = checked;
    let requester = origin.requester();
    let (contract, rules, kind) = (engine.contract.as_ref(), &engine.rules, requester.kind());
    // A fork of its parent has the parent's roster, and its notices have been given.
    let copied = origin.parent().filter(|_| fork.is_some_and(|fork| fork.as_parent));
    request.notices.extend(roster.notices().filter(|_| copied.is_none()).chain(notice));
    let query = ModelQuery { requester, definition, request: &request };
    let (chosen, model_asked) = match copied {
        Some(parent) if request.model.is_none() => (parent.job.config.model.clone().into(), None),
        _ => {
            let asked = asked_model(rules, contract, query).map(str::to_owned);
            (choose_model(rules, contract, engine.models.as_ref(), query)?, asked)
        }
    };
    request.notices.extend(chosen.notice);
    let frame = GrantFrame {
        contract,
        rules,
        layers: &engine.permissions.layers,
        tools: &roster.tools,
        more_tools: &[],
        requester,
        has_person: engine.permissions.approver.is_present(),
    };
    let output_schema = request.output_schema.take();
    let asked_schema = output_schema.clone();
    let (mut config, fewer_turns) =
        frame.configure(definition, ConfigRequest { request: &request, output_schema, model: chosen.choice });
    config.model_asked = model_asked;
    request.notices.extend(fewer_turns);
    request.notices.extend(undescribed(&roster.agents).filter(|_| kind == TaskKind::Main));
    let tree = if requester.parent().is_none() { rules.of_tree() } else { Limits::default() };
    request.notices.extend(lowered(request.limits, config.limits.tighter(tree)));
    let mut context_files = Vec::new();
    if let Some(parent) = copied {
        config = as_parent(AgentConfig { output_schema: asked_schema, ..config }, &parent.job.config);
        context_files.clone_from(&parent.job.context_files);
    } else {
        config.server_tools = roster.server_tools(&config.tools);
        let chosen = request.context_files.as_ref().or(definition.context_files.as_ref());
        let instructions = match chosen {
            Some(paths) => chosen_files(engine, origin, &config, paths)?,
            None if kind == TaskKind::Main || rules.instructions.for_children => {
                let guard = engine.permissions.reading(&engine.workspace);
                let guard = guard.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
                Instructions::read(&engine.workspace, &guard, &rules.instructions)
            }
            None => Instructions::default(),
        };
        let instructions = instructions.without_secrets(&engine.permissions.redactor);
        config.system = instructions.after(&config.system);
        request.notices.extend(instructions.notices);
        context_files.extend(instructions.files.into_iter().map(|file| file.path));
        if let Some(schema) = &config.output_schema {
            config.system += &asked_for(schema)?;
        }
    }
    let fork = match (origin.parent(), fork) {
        (Some(parent), Some(wish)) => {
            let Forked { context, notices } = forked(parent, wish, &config)?;
            request.notices.extend(notices);
            Some(context)
        }
        _ => None,
    };
    Ok(Decision { config, request, context_files, fork })
}

/// Reads the context files that a call or an agent's file names, as far as the task itself may read them.
fn chosen_files(
    engine: &EngineState,
    origin: &Origin<'_>,
    config: &AgentConfig,
    paths: &[String],
) -> Result<Instructions, Failure> {
    let reach = origin.parent().map_or_else(|| engine.reach(), |parent| parent.job.reach.clone());
    let workspace = engine.workspace_of(&reach);
    let judge = Judge::new(&config.grant, engine.permissions.places(&workspace));
    let judge = judge.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
    let guard: Arc<dyn Guard> = Arc::new(PathGuard::of_reading(judge));
    Ok(Instructions::chosen(&workspace, &guard, paths, engine.rules.instructions.max_bytes))
}

/// Returns the report cap of this agent. A main agent's answer goes to a person, who can read all of it.
fn report_cap(engine: &EngineState, config: &AgentConfig) -> ReportCap {
    let defaults = engine.contract.defaults();
    let own = defaults.type_of(&config.agent).and_then(|known| known.report_cap);
    if config.depth == 0 { ReportCap::None } else { own.unwrap_or(defaults.report_cap) }
}

/// Returns the job that is run and recorded.
pub(crate) fn job(engine: &EngineState, origin: &Origin<'_>, decision: Decision) -> Job {
    let Decision { config, request, context_files, fork } = decision;
    let parent = origin.parent().map(|parent| parent.job.as_ref());
    let task = origin.task().unwrap_or_else(|| engine.ids.task());
    let (bytes, characters, lines, json_bytes) = match report_cap(engine, &config) {
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
        workspace: engine.workspace.root().display().to_string(),
        contract: engine.contract.name().to_owned(),
        report_cap_bytes: bytes,
        report_cap_characters: characters,
        report_cap_lines: lines,
        report_cap_json_bytes: json_bytes,
        notices: request.notices,
        counted_percent: engine.counting.percent(&config.model),
        fork: fork.map(Box::new),
        context_files,
        reach: parent.map_or_else(|| engine.reach(), |parent| parent.reach.clone()),
        config,
    }
}
