//! Three calls of one turn. Their sub-agents' models answer only once all three are asked at the same time.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::hosts::host::Host;
use crate::hosts::outcome::Outcome;
use crate::hosts::script::{Script, task};
use crate::hosts::site::Site;
use crate::hosts::stage::Stage;

const PROMPT: &str = "Delegate three things.";
const WORKS: [&str; 3] = ["Look at the first.", "Look at the second.", "Look at the third."];
const REPORT: &str = "All three met.";
/// Time in which they must meet. One after the other, they never do.
const WITHIN: Duration = Duration::from_secs(8);

/// With the usual permissions: `Explore` only reads.
pub(super) fn of_explore(stage: &Stage, host: Host) -> Result<Outcome> {
    play(stage, host, "Explore", &[])
}

/// In plan mode nothing can be changed, so `Task` only reads as well.
pub(super) fn of_task_in_plan_mode(stage: &Stage, host: Host) -> Result<Outcome> {
    play(stage, host, "Task", &["--permission-mode", "plan"])
}

fn play(stage: &Stage, host: Host, tool: &'static str, words: &[&str]) -> Result<Outcome> {
    let calls: Vec<(&str, Value)> = WORKS.iter().map(|work| (tool, task(work))).collect();
    let meeting = json!({ "name": "all", "count": WORKS.len(), "within_ms": WITHIN.as_millis() as u64 });
    let reply = json!({ "meeting": meeting, "parts": [{ "text": REPORT }] });
    let script =
        WORKS.iter().fold(Script::new(host).asked(PROMPT, &calls), |script, work| script.works(work, 0, &reply));
    let site = Site::new(stage, host, script, words)?;
    let session = site.session(PROMPT)?;
    let record = site.record()?;
    let reports = record.received().iter().filter(|answer| answer.0.contains(REPORT)).count();
    let asked = WORKS.iter().filter(|work| !record.asked_of(work).is_empty()).count();
    Ok(match (asked, reports) {
        (3, 3) => Outcome::good("in parallel"),
        (3, _) => Outcome::bad("one after the other"),
        _ => {
            Outcome::bad(format!("{asked} of 3 sub-agents began; offered: {:?}; {}", record.offered(), session.output))
        }
    })
}
