//! Input of a hook's program: one JSON object for each event.

use serde_json::{Value, json};
use sortie_contract::outcome_object;
use sortie_engine::Asking;
use sortie_protocol::{Job, TaskOutcome};

use crate::settings::Seam;

/// Raised when a field changes its meaning or disappears, not for a new field.
const VERSION: u32 = 1;

pub(super) fn started(job: &Job, leg: u32) -> Value {
    let mut told = about_leg(Seam::Started, job, leg);
    told["prompt"] = job.prompt.as_str().into();
    told
}

pub(super) fn ended(job: &Job, leg: u32, outcome: &TaskOutcome) -> Value {
    let mut told = about_leg(Seam::Ended, job, leg);
    told["outcome"] = outcome_object(outcome);
    told
}

pub(super) fn asks(job: &Job, asking: &Asking<'_>) -> Value {
    let Asking { tool, arguments, rules, ground } = *asking;
    let mut told = about(Seam::Asks, job);
    told["tool"] = tool.into();
    told["arguments"] = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
    told["rules"] = rules.into();
    told["reason"] = ground.into();
    told
}

/// Fields of every event of a leg.
fn about_leg(seam: Seam, job: &Job, leg: u32) -> Value {
    let mut told = about(seam, job);
    told["leg"] = leg.into();
    if leg > 1 {
        told["resumed"] = true.into();
    }
    told
}

/// Fields of every event.
fn about(seam: Seam, job: &Job) -> Value {
    let mut told = json!({
        "v": VERSION,
        "event": seam.name(),
        "task_id": job.task,
        "depth": job.config.depth,
        "agent": job.config.agent,
        "title": job.title,
        "workspace": job.workspace,
    });
    if let Some(parent) = job.parent {
        told["parent_id"] = json!(parent);
    }
    told
}
