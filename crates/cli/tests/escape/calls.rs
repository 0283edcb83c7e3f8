//! Calls of hostile models.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use crate::world::{FIRST_LINE, PROMPT};

/// Text that a model writes wherever it can.
pub(crate) const WRITTEN: &str = "WRITTEN BY A MODEL";

/// Main agent that makes all these calls at once and then ends.
pub(crate) fn main_agent(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    main_agent_in_turns([calls.into_iter().collect()])
}

/// Main agent that makes these calls turn by turn and then ends. Rules for sub-agents can follow.
pub(crate) fn main_agent_in_turns(turns: impl IntoIterator<Item = Vec<ScriptedPart>>) -> Script {
    agent_in_turns(Script::new(), PROMPT, turns)
}

/// Adds an agent, known by its prompt, that makes these calls at once and then ends.
pub(crate) fn with_agent(script: Script, prompt: &str, calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    agent_in_turns(script, prompt, [calls.into_iter().collect()])
}

/// Adds an agent, known by its prompt, that makes these calls turn by turn and then ends.
pub(crate) fn agent_in_turns(
    script: Script,
    prompt: &str,
    turns: impl IntoIterator<Item = Vec<ScriptedPart>>,
) -> Script {
    let numbered = (0..).zip(turns);
    numbered
        .fold(script, |script, (turn, calls)| script.on(when::prompt_contains(prompt).turn(turn), reply::calls(calls)))
        .on(when::prompt_contains(prompt), reply::text("done"))
}

/// Main agent that delegates these calls to one sub-agent.
pub(crate) fn delegated(agent: &str, calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    with_agent(main_agent([task(agent, "CHILD")]), "CHILD", calls)
}

pub(crate) fn task(agent: &str, prompt: &str) -> ScriptedPart {
    call("Task", json!({"description": "Do it", "prompt": prompt, "subagent_type": agent}))
}

pub(crate) fn call(tool: &str, arguments: Value) -> ScriptedPart {
    reply::call(tool, arguments)
}

pub(crate) fn read(path: &str) -> ScriptedPart {
    call("Read", json!({"file_path": path}))
}

pub(crate) fn write(path: &str) -> ScriptedPart {
    call("Write", json!({"file_path": path, "content": WRITTEN}))
}

pub(crate) fn edit(path: &str) -> ScriptedPart {
    call("Edit", json!({"file_path": path, "old_string": FIRST_LINE, "new_string": WRITTEN}))
}

pub(crate) fn multi_edit(path: &str) -> ScriptedPart {
    let edits = json!([{"old_string": FIRST_LINE, "new_string": WRITTEN}]);
    call("MultiEdit", json!({"file_path": path, "edits": edits}))
}

pub(crate) fn fetch(url: &str) -> ScriptedPart {
    call("WebFetch", json!({"url": url}))
}

/// One call of each tool that reads files, for this path.
pub(crate) fn every_look(path: &str) -> Vec<ScriptedPart> {
    vec![
        read(path),
        call("LS", json!({"path": path})),
        call("Glob", json!({"pattern": "**", "path": path})),
        // The pattern matches a canary without containing it.
        call("Grep", json!({"pattern": "C.NARY", "path": path, "output_mode": "content"})),
    ]
}

/// One call of each tool that changes files, for this path.
pub(crate) fn every_change(path: &str) -> Vec<ScriptedPart> {
    vec![write(path), edit(path), multi_edit(path)]
}

/// One call of each file tool, for this path.
pub(crate) fn every_tool(path: &str) -> Vec<ScriptedPart> {
    every_look(path).into_iter().chain(every_change(path)).collect()
}
