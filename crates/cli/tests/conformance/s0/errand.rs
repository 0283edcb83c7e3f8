//! One delegation in `envelope`. Its envelope is checked against the general protocol wherever it is read.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, ScriptedServer, reply};

use crate::protocol::conforming;
use crate::world::{Run, World, main_agent_calls};

/// Brief of the sub-agent.
pub(crate) const CHILD: &str = "CHILD looks for it";

/// Second route, to the first one's address with another model.
const LIGHT: [&str; 2] = ["--set", "routes.light.model=light-model"];

/// Arguments of a call with this type, and no model.
pub(crate) fn arguments(subagent_type: &str) -> Value {
    json!({"description": "Find it", "prompt": CHILD, "subagent_type": subagent_type})
}

pub(crate) fn task(arguments: Value) -> ScriptedPart {
    reply::call("Task", arguments)
}

/// Main agent that delegates once and then ends.
pub(crate) fn delegating(arguments: Value) -> Script {
    main_agent_calls([task(arguments)])
}

/// Run with both routes configured.
pub(crate) fn run(world: &World, wire: &str, script: Script) -> Run {
    run_with(world, wire, script, &[])
}

/// Run with both routes configured and more flags.
pub(crate) fn run_with(world: &World, wire: &str, script: Script, flags: &[&str]) -> Run {
    Run::with(world, "envelope", wire, script, &[&LIGHT, flags].concat())
}

/// Result that the main agent's model received for its only call.
pub(crate) fn answer(run: &Run) -> Value {
    conforming(run.result().json())
}

/// Results for all of its calls, in order.
pub(crate) fn answers(run: &Run) -> Vec<Value> {
    run.results().iter().map(|result| conforming(result.json())).collect()
}

/// Output of `sortie task` for these arguments, with this script behind both routes.
pub(crate) fn printed(world: &World, server: &ScriptedServer, arguments: &str) -> Value {
    let args = [&["task", "--contract", "envelope"], &LIGHT[..], &["--json", arguments]].concat();
    conforming(world.sortie(args).on(server, "anthropic").run().stdout_json())
}

/// Notices of sub-agents in a stream-json run.
pub(crate) fn notices(run: &Run) -> Vec<String> {
    let events = run.ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let noticed = events.filter(|event| event["type"] == "noticed" && event["depth"] == 1);
    noticed.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}
