//! Document 004, the contract `child`.

mod interface;
mod recipe;
mod rules;
mod session;
mod summary;

use serde_json::json;
use sortie_testkit::{ScriptedPart, reply};

const CONTRACT: &str = "child";

/// A call of the tool for the default type.
fn task(prompt: &str) -> ScriptedPart {
    reply::call("task", json!({"description": "Search X usages", "prompt": prompt}))
}

/// A call of the tool for this type.
fn task_for(agent: &str, prompt: &str) -> ScriptedPart {
    reply::call("task", json!({"description": "Search X usages", "prompt": prompt, "subagent_type": agent}))
}
