//! Contract `child`.

mod interface;
mod recipe;
mod rules;
mod session;
mod summary;

use serde_json::json;
use sortie_testkit::{ScriptedPart, reply};

const CONTRACT: &str = "child";

/// Call of the tool for the default type.
fn task(prompt: &str) -> ScriptedPart {
    reply::call("task", json!({"description": "Search X usages", "prompt": prompt}))
}

/// Call of the tool for this type.
fn task_for(agent: &str, prompt: &str) -> ScriptedPart {
    reply::call("task", json!({"description": "Search X usages", "prompt": prompt, "subagent_type": agent}))
}
