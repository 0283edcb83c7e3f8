//! Work in the background: the host quits properly while it goes on, and the next session finds the report.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::REPORT;
use crate::hosts::host::Host;
use crate::hosts::outcome::Outcome;
use crate::hosts::script::{Script, task};
use crate::hosts::site::Site;
use crate::hosts::stage::Stage;

const START: &str = "Begin in the background.";
const FETCH: &str = "Fetch the report of";
const WORK: &str = "Take your time.";
const GATE: &str = "later";

pub(super) fn play(stage: &Stage, host: Host) -> Result<Outcome> {
    let mut start = task(WORK);
    start["run_in_background"] = Value::from(true);
    let tools = stage.tools()?;
    let output = tools.iter().find(|tool| tool.ends_with("Output")).context("no tool has reports")?;
    let script = Script::new(host)
        .asked(START, &[("Task", start)])
        .asked(FETCH, &[(output, json!({ "task_id": "<task 1>" }))])
        .works(WORK, 0, &json!({ "gate": GATE, "parts": [{ "text": REPORT }] }));
    let mut site = Site::new(stage, host, script, &[])?;
    site.session(START)?;
    let begun = site.record()?.received();
    let begun = begun.first().context("the host's model received nothing")?;
    let id = task_id(&begun.0).with_context(|| format!("no task was begun: {}", begun.0))?;
    site.open(GATE)?;
    let session = site.session(&format!("{FETCH} {id}."))?;
    let received = site.record()?.received();
    let Some(answer) = received.last().map(|answer| &answer.0) else {
        return Ok(Outcome::bad(format!("the second session received nothing; {}", session.output)));
    };
    let has_report = answer.contains("The notes say");
    Ok(Outcome::good_if(has_report, if has_report { "goes on; the next session gets the report" } else { answer }))
}

fn task_id(text: &str) -> Option<&str> {
    let at = text.find("agent-")?;
    let id = &text[at..];
    Some(id.split(|letter: char| !(letter.is_ascii_lowercase() || letter == '-')).next().unwrap_or(id))
}
