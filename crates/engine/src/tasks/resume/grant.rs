//! The grant of a resumed task: its grant at the start, within the present rules.
//!
//! It never grows. What one resumption denies comes back with the next.

use sortie_agents::AgentDefinition;
use sortie_protocol::{AgentConfig, Failure, FailureCode, GrantLayer, Job, Mode, Reach};

use crate::conversation::task_record::TaskRecord;
use crate::resolve::configuration::tools_at;
use crate::resolve::roster::Roster;
use crate::resolve::server_tools::{Change, Lost};
use crate::tasks::resume::limits::definition_of;
use crate::tasks::state::EngineState;

/// Configuration of a task from here on.
pub(crate) struct Renewed {
    /// Configuration, with the remaining limits of the newest leg.
    pub(crate) config: AgentConfig,
    pub(crate) reach: Reach,
    /// Differences from its start.
    pub(crate) notices: Vec<String>,
}

/// Renews a task's grant and reach; `parent` is the configuration of the waiting task.
pub(crate) fn renewed(
    engine: &EngineState,
    roster: &Roster,
    past: &TaskRecord,
    parent: Option<&AgentConfig>,
) -> Result<Renewed, Failure> {
    let (job, first) = (&past.job, past.first());
    let definition = definition_of(roster, first)?;
    refuse_elsewhere(engine, job)?;
    let now: &[_] = parent.map_or(&engine.permissions.layers, |parent| &parent.grant.layers);
    // A fork of its parent was offered the parent's tools, at any depth.
    let copies_parent = job.fork.as_ref().is_some_and(|fork| fork.as_parent);
    let exist = if copies_parent {
        roster.tools.names().map(str::to_owned).collect()
    } else {
        tools_at(&roster.tools, engine.contract.as_ref(), &engine.rules, first.depth)
    };
    let grant = sortie_agents::renew(&sortie_policy::intersect(&first.grant, now), definition, &exist);
    let was = &job.config.server_tools;
    let is_kept = |tool: &&String| exist.contains(tool) && roster.is_as_it_was(tool, was);
    let kept: Vec<String> = first.tools.iter().filter(is_kept).cloned().collect();
    let tools = sortie_policy::offerable(&grant, &kept);
    let mut lost = Lost::default();
    for tool in first.tools.iter().filter(|tool| !tools.contains(tool)) {
        let what = match tool {
            gone if !exist.contains(gone) => &mut lost.gone,
            changed if !kept.contains(changed) => &mut lost.changed,
            _ => &mut lost.denied,
        };
        what.push(tool);
    }
    let change = Change { before: &job.config.tools, now: &tools, lost: &lost };
    let server_tools = change.server_tools(roster, was);
    let mut notices: Vec<String> = lost.notices().collect();
    // Children inherit from their parent.
    if parent.is_none() {
        notices.extend(unapproved(&first.grant.layers, now));
    }
    if has_other_role(definition, first) {
        let name = &definition.name;
        notices.push(format!("the file of agent `{name}` has changed; this task keeps the role it began with"));
    }
    let reach = reach_within(engine, &job.reach, &mut notices);
    let limits = past.limits_left(engine.clock.now());
    let config = AgentConfig { grant, tools, limits, server_tools, ..job.config.clone() };
    Ok(Renewed { config, reach, notices })
}

fn refuse_elsewhere(engine: &EngineState, job: &Job) -> Result<(), Failure> {
    let root = engine.workspace.root().display().to_string();
    if job.workspace != root {
        let message = format!("this task works in {}, not in {root}; resume it there", job.workspace);
        return Err(Failure::new(FailureCode::OtherWorkspace, message));
    }
    let (spoken, here) = (&job.contract, engine.contract.name());
    if spoken != here {
        let message = format!("this task uses the contract `{spoken}`, not `{here}`; resume it in that one");
        return Err(Failure::new(FailureCode::OtherContract, message));
    }
    Ok(())
}

/// Returns the part of a task's reach that is still open, and adds notices about the rest.
fn reach_within(engine: &EngineState, stored: &Reach, notices: &mut Vec<String>) -> Reach {
    let now = engine.reach();
    for added in now.added.iter().filter(|path| !stored.added.contains(path)) {
        notices.push(format!("{added} was not added when this task was started, and stays closed to it"));
    }
    for gone in stored.added.iter().filter(|path| !now.added.contains(path)) {
        notices.push(format!("{gone} is no longer added"));
    }
    if now.unconfined && !stored.unconfined {
        notices.push("this task was started with walls around its commands, and keeps them".to_owned());
    }
    let added = stored.added.iter().filter(|path| now.added.contains(path)).cloned().collect();
    Reach { added, unconfined: stored.unconfined && now.unconfined }
}

/// Returns notices about actions that need approval now and did not at the start, because an option was not repeated.
/// The first layer is the user's, with the mode.
fn unapproved(before: &[GrantLayer], now: &[GrantLayer]) -> Vec<String> {
    let (Some(then @ GrantLayer { mode: Some(mode), .. }), Some(now)) = (before.first(), now.first()) else {
        return Vec::new();
    };
    if now.mode == Some(Mode::Bypass) {
        return Vec::new();
    }
    let mut notices = Vec::new();
    if matches!(mode, Mode::AcceptEdits | Mode::Bypass) && now.mode != Some(*mode) {
        let mode = mode.name();
        notices.push(format!("no longer in the permission mode `{mode}`; pass `--permission-mode {mode}` again"));
    }
    let gone: Vec<&str> = then.allow.iter().filter(|rule| !now.allow.contains(rule)).map(String::as_str).collect();
    if !gone.is_empty() {
        notices.push(format!("no longer allowed without approval: {}; pass `--allow` again", gone.join(", ")));
    }
    notices
}

/// True if the agent's file has changed since the task began. Additions by a contract or by project instructions come
/// after the role.
fn has_other_role(definition: &AgentDefinition, first: &AgentConfig) -> bool {
    let rest = first.system.strip_prefix(definition.prompt.as_str());
    definition.origin.path.is_some() && !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("\n\n"))
}
