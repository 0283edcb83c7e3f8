//! A sub-agent that wants to write a file: the person is asked where the host can ask, and the host is told otherwise.

use anyhow::Result;
use serde_json::json;

use super::REPORT;
use crate::hosts::host::Host;
use crate::hosts::outcome::Outcome;
use crate::hosts::script::{Script, call, task, text};
use crate::hosts::site::Site;
use crate::hosts::stage::Stage;

const PROMPT: &str = "Delegate the writing.";
const WORK: &str = "Write the file.";
const FILE: &str = "new.txt";

pub(super) fn play(stage: &Stage, host: Host) -> Result<Outcome> {
    let mut writing = task(WORK);
    writing["subagent_type"] = json!("general-purpose");
    let script = Script::new(host)
        .asked(PROMPT, &[("Task", writing)])
        .works(WORK, 0, &call("Write", &json!({ "file_path": FILE, "content": "Written." })))
        .works(WORK, 1, &text(REPORT));
    let site = Site::new(stage, host, script, &[])?;
    let questions = match host {
        Host::Claude | Host::Codex => site.session_with_person(PROMPT)?,
        Host::Gemini | Host::Opencode => {
            site.session(PROMPT)?;
            Vec::new()
        }
    };
    let is_written = site.path("workspace").join(FILE).exists();
    let received = site.record()?.received().pop().map(|answer| answer.0).unwrap_or_default();
    let is_told = received.contains("refused") && received.contains("Edit(/new.txt)");
    let (holds, seen) = match host {
        Host::Claude | Host::Codex => (is_written && questions.len() == 1, "the person is asked"),
        Host::Gemini | Host::Opencode => (!is_written && is_told, "refused; the host is told the rule"),
    };
    let unmet = || format!("asked: {questions:?}; written: {is_written}; received: {received}");
    Ok(if holds { Outcome::good(seen) } else { Outcome::bad(unmet()) })
}
