//! Decisions about a new task: its model, its configuration, its instructions; and the job that is run and recorded.

use sortie_contract::ReportCap;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Job, TaskRequest};

use crate::conversation::schema_answer::asked_for;
use crate::resolve::choose_agent::ChosenAgent;
use crate::resolve::choose_model::{ModelQuery, choose_model};
use crate::resolve::configuration::{ConfigRequest, GrantFrame};
use crate::resolve::instructions::Instructions;
use crate::resolve::roster::{Roster, undescribed};
use crate::resolve::settings::{Requester, TaskKind, lowered};
use crate::tasks::start::check::Checked;
use crate::tasks::start::origin::Origin;
use crate::tasks::state::EngineState;

/// Longest title; the rest is cut, for everything that lists tasks.
const MAX_TITLE_CHARS: usize = 200;

/// Turns an agent's definition into the configuration of one task. Notices are added to the request's.
pub(crate) fn decide(
    engine: &EngineState,
    roster: &Roster,
    requester: Requester<'_>,
    checked: Checked<'_>,
) -> Result<(AgentConfig, TaskRequest), Failure> {
    let Checked { serving: ChosenAgent { definition, notice }, mut request } = checked;
    let (contract, rules, kind) = (engine.contract.as_ref(), &engine.rules, requester.kind());
    request.notices.extend(roster.notices().chain(notice));
    let chosen =
        choose_model(rules, contract, engine.models.as_ref(), ModelQuery { requester, definition, request: &request })?;
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
    let (mut config, fewer_turns) =
        frame.configure(definition, ConfigRequest { request: &request, output_schema, model: chosen.choice });
    request.notices.extend(fewer_turns);
    request.notices.extend(undescribed(&roster.agents).filter(|_| kind == TaskKind::Main));
    request.notices.extend(lowered(request.limits, config.limits));
    config.server_tools = roster.server_tools(&config.tools);
    if kind == TaskKind::Main || rules.instructions.for_children {
        let guard = engine.permissions.reading(&engine.workspace);
        let guard = guard.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?;
        let instructions = Instructions::read(&engine.workspace, &guard, &rules.instructions);
        let instructions = instructions.without_secrets(&engine.permissions.redactor);
        config.system = instructions.after(&config.system);
        request.notices.extend(instructions.notices);
    }
    if let Some(schema) = &config.output_schema {
        config.system += &asked_for(schema)?;
    }
    Ok((config, request))
}

/// Returns the report cap of this agent. A main agent's answer goes to a person, who can read all of it.
fn report_cap(engine: &EngineState, config: &AgentConfig) -> ReportCap {
    let defaults = engine.contract.defaults();
    let own = defaults.type_of(&config.agent).and_then(|known| known.report_cap);
    if config.depth == 0 { ReportCap::None } else { own.unwrap_or(defaults.report_cap) }
}

/// Returns the job that is run and recorded.
pub(crate) fn job(engine: &EngineState, origin: &Origin<'_>, request: TaskRequest, config: AgentConfig) -> Job {
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
        reach: parent.map_or_else(|| engine.reach(), |parent| parent.reach.clone()),
        config,
    }
}
