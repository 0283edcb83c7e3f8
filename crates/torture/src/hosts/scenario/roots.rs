//! A server that the host starts in `/`: the workspace is the host's root, or the server asks for one.

use anyhow::Result;
use serde_json::json;

use super::REPORT;
use crate::hosts::host::Host;
use crate::hosts::outcome::Outcome;
use crate::hosts::script::{Script, call, task, text};
use crate::hosts::site::{NOTES, Site};
use crate::hosts::stage::Stage;

const PROMPT: &str = "Delegate the reading.";
const WORK: &str = "Read the notes here.";

pub(super) fn play(stage: &Stage, host: Host) -> Result<Outcome> {
    let script = Script::new(host)
        .asked(PROMPT, &[("Task", task(WORK))])
        .works(WORK, 0, &call("Read", &json!({ "file_path": "notes.txt" })))
        .works(WORK, 1, &text(REPORT));
    let site = Site::new(stage, host, script, &[])?;
    site.start_in_root()?;
    let session = site.session(PROMPT)?;
    let record = site.record()?;
    let asked = record.asked_of(WORK);
    let has_read = asked.iter().any(|request| request["body"].to_string().contains(NOTES));
    let answer = record.received().pop().map(|answer| answer.0).unwrap_or_default();
    // Codex declares no roots.
    if host == Host::Codex {
        let is_refused = asked.is_empty() && answer.contains("--cwd");
        return Ok(Outcome::good_if(is_refused, if is_refused { "nothing: it asks for a directory" } else { &answer }));
    }
    let seen = if has_read { "the host's root".to_owned() } else { format!("{answer} {}", session.output) };
    Ok(Outcome::good_if(has_read, seen))
}
