//! One errand in `envelope`: a main agent sends a sub-agent out and gets an envelope back, which is held against the
//! general protocol wherever it is read.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, ScriptedServer, reply};

use crate::protocol::conforming;
use crate::world::{Run, World, main_agent_calls};

/// The brief of the sub-agent.
pub(crate) const CHILD: &str = "CHILD looks for it";

/// The second route: where the first one leads to, with another model.
const LIGHT: [&str; 2] = ["--set", "routes.light.model=light-model"];

/// The arguments of a call that names this type, and no model.
pub(crate) fn arguments(subagent_type: &str) -> Value {
    json!({"description": "Find it", "prompt": CHILD, "subagent_type": subagent_type})
}

pub(crate) fn task(arguments: Value) -> ScriptedPart {
    reply::call("Task", arguments)
}

/// A main agent that delegates once and then ends.
pub(crate) fn delegating(arguments: Value) -> Script {
    main_agent_calls([task(arguments)])
}

/// A run in which both routes are set.
pub(crate) fn run(world: &World, wire: &str, script: Script) -> Run {
    run_with(world, wire, script, &[])
}

/// The same with more flags.
pub(crate) fn run_with(world: &World, wire: &str, script: Script, flags: &[&str]) -> Run {
    Run::with(world, "envelope", wire, script, &[&LIGHT, flags].concat())
}

/// What the main agent's model received for its only call.
pub(crate) fn answer(run: &Run) -> Value {
    conforming(run.result().json())
}

/// What it received for each of its calls, in their order.
pub(crate) fn answers(run: &Run) -> Vec<Value> {
    run.results().iter().map(|result| conforming(result.json())).collect()
}

/// What `sortie task` prints for these arguments, with this script behind both routes.
pub(crate) fn printed(world: &World, server: &ScriptedServer, arguments: &str) -> Value {
    let args = [&["task", "--contract", "envelope"], &LIGHT[..], &["--json", arguments]].concat();
    conforming(world.sortie(args).on(server, "anthropic").run().stdout_json())
}

/// What sub-agents gave notice of, in a run whose output is stream-json.
pub(crate) fn notices(run: &Run) -> Vec<String> {
    let events = run.ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let noticed = events.filter(|event| event["type"] == "noticed" && event["depth"] == 1);
    noticed.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}
