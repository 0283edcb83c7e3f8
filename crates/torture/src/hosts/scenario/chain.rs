//! A Task call: the sub-agent reads a file, and its report reaches the host's model.

use anyhow::Result;
use serde_json::json;

use super::REPORT;
use crate::hosts::host::Host;
use crate::hosts::outcome::Outcome;
use crate::hosts::record::Received;
use crate::hosts::script::{DONE, Script, call, task, text};
use crate::hosts::site::{NOTES, Site};
use crate::hosts::stage::Stage;

const PROMPT: &str = "Delegate the reading.";
const WORK: &str = "Read the notes.";

pub(super) fn play(stage: &Stage, host: Host) -> Result<Outcome> {
    let script = Script::new(host)
        .asked(PROMPT, &[("Task", task(WORK))])
        .works(WORK, 0, &call("Read", &json!({ "file_path": "notes.txt" })))
        .works(WORK, 1, &text(REPORT));
    let site = Site::new(stage, host, script, &[])?;
    let session = site.session(PROMPT)?;
    let record = site.record()?;
    let received = record.received();
    let [Received(answer)] = &received[..] else {
        return Ok(Outcome::bad(format!("the host's model received {received:?}; {}", session.output)));
    };
    let has_read = record.asked_of(WORK).iter().any(|request| request["body"].to_string().contains(NOTES));
    // A host may escape the text once more, within JSON.
    let has_report = answer.contains(REPORT) || answer.contains(&REPORT.replace('"', "\\\""));
    let form = if answer.contains("{\"task_id\"") { "structured content" } else { "text" };
    if !(has_read && has_report && session.output.contains(DONE)) {
        let offered = record.offered();
        return Ok(Outcome::bad(format!(
            "read: {has_read}; received: {answer}; offered: {offered:?}; {}",
            session.output
        )));
    }
    Ok(Outcome::good(format!("{form}, {} bytes", answer.len())).showing(answer))
}
