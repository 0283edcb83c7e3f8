//! For each tool the smallest run in which it does its work, so that each point can be tried with each of them.

use super::script::{Agent, Script};

/// A tool, and what the agent does that calls it.
type Scenario = (&'static str, fn(&mut Agent));

const SCENARIOS: &[Scenario] = &[
    ("Read", Agent::read),
    ("Grep", Agent::grep),
    ("Glob", Agent::glob),
    ("LS", Agent::list),
    ("TodoWrite", Agent::note_to_do),
    ("Write", Agent::write),
    ("Edit", |agent| {
        agent.read();
        agent.then(0);
        agent.edit();
    }),
    ("MultiEdit", |agent| {
        agent.read();
        agent.then(0);
        agent.multi_edit();
    }),
    ("Bash", |agent| agent.bash("", "")),
    ("BashOutput", |agent| {
        agent.background();
        agent.then(0);
        agent.look_at_background();
    }),
    ("KillShell", |agent| {
        agent.background();
        agent.then(0);
        agent.end_background();
    }),
];

/// Delegation needs somebody to delegate to.
const TASK: &str = "Task";
/// No tool, but another way to end: the report at a limit, with a call that comes too late.
const LIMIT: &str = "limit";

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|(tool, _)| *tool).chain([TASK, LIMIT])
}

/// The run that tries one tool; `None` for a tool that has none.
pub(super) fn script(tool: &str) -> Option<Script> {
    let mut script = Script::default();
    let mut main = script.main_agent();
    if tool == TASK {
        let mut worker = script.worker();
        worker.bash("", "");
        main.delegate(&worker);
        script.add(worker);
    } else if tool == LIMIT {
        script.flags = &["--max-turns", "1"];
        main.list();
        main.then(0);
        main.report("This is as far as it came.");
        main.bash("", "");
    } else {
        let (_, act) = SCENARIOS.iter().find(|(name, _)| *name == tool)?;
        act(&mut main);
    }
    script.add(main);
    Some(script)
}
