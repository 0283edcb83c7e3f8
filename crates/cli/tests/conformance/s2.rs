//! Contract `delegate`.

mod configuration;
mod context;
mod depth;
mod display;
mod files;
mod interface;
mod limits;
mod log;
mod outlook;
mod results;

use serde_json::json;
use sortie_testkit::{ScriptedPart, reply};

const CONTRACT: &str = "delegate";

/// Call of the tool.
fn task(brief: &str) -> ScriptedPart {
    reply::call("task", json!({ "task": brief }))
}
