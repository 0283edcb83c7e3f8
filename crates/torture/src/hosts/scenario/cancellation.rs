//! A call that the host gives up: its timeout is short, and the sub-agent's model never answers.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::hosts::host::Host;
use crate::hosts::outcome::Outcome;
use crate::hosts::script::{Script, task};
use crate::hosts::site::Site;
use crate::hosts::stage::Stage;

const PROMPT: &str = "Delegate what never ends.";
const WORK: &str = "Wait for nothing.";
/// Time within which everything below the call must have stopped.
const AT_ONCE: Duration = Duration::from_secs(2);

pub(super) fn play(stage: &Stage, host: Host) -> Result<Outcome> {
    let script =
        Script::new(host).asked(PROMPT, &[("Task", task(WORK))]).works(WORK, 0, &json!({ "fault": "silence" }));
    let mut site = Site::new(stage, host, script, &[])?;
    match host {
        Host::Claude => site.set("MCP_TOOL_TIMEOUT", "3000"),
        Host::Codex => site.edit("tool_timeout_sec = 600", "tool_timeout_sec = 3")?,
        Host::Gemini | Host::Opencode => site.edit("600000", "3000")?,
    }
    let session = site.session(PROMPT)?;
    let record = site.record()?;
    let (cut, host_went_on) = (record.cut_after(WORK), record.host_went_on_after(WORK));
    let states: Vec<String> = site.tasks()?.iter().map(|task| task["status"].to_string()).collect();
    let is_stopped = matches!((cut, host_went_on), (Some(cut), Some(went_on)) if cut < went_on + AT_ONCE);
    let is_recorded = !states.is_empty() && states.iter().all(|state| state.contains("cancelled"));
    let seen = if is_stopped && is_recorded {
        "its whole tree stops at once".to_owned()
    } else {
        format!("cut after {cut:?}, host went on after {host_went_on:?}, tasks {states:?}; {}", session.output)
    };
    Ok(Outcome::good_if(is_stopped && is_recorded, seen))
}
