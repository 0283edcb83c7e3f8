//! Contract `typed`: Explore, Plan, Bash, general-purpose and agents from files.

mod answer;
mod background;
mod context;
mod custom;
mod display;
mod limits;
mod models;
mod parallel;
mod permissions;
mod resume;
mod roles;
mod schema;
mod shared;
mod status;
mod stop;
mod tools;

use serde_json::{Value, json};
use sortie_testkit::{ScriptedPart, ScriptedServer, reply};

use crate::world::{Ended, Run, World};

fn arguments(agent: &str, prompt: &str) -> Value {
    json!({"description": "Look at code", "prompt": prompt, "subagent_type": agent})
}

fn task(agent: &str, prompt: &str) -> ScriptedPart {
    reply::call("Task", arguments(agent, prompt))
}

/// Arguments with one more field.
fn with(field: &str, value: Value) -> Value {
    let mut arguments = arguments("Explore", "CHILD looks");
    arguments[field] = value;
    arguments
}

/// Answer of `sortie task` to these arguments.
fn answer(world: &World, server: &ScriptedServer, arguments: &str) -> Ended {
    world.sortie(["task", "--contract", "typed", "--json", arguments]).on(server, "anthropic").run()
}

/// Answer without its `agentId`, which it must have.
fn without_id(mut answer: Value) -> Value {
    let id = answer.as_object_mut().unwrap().remove("agentId");
    let id = id.as_ref().and_then(Value::as_str).unwrap_or_else(|| panic!("no agentId: {answer}"));
    let letters = id.strip_prefix("agent-").unwrap_or_else(|| panic!("{id}"));
    assert!(letters.len() == 12 && letters.bytes().all(|letter| letter.is_ascii_lowercase()), "{id}");
    answer
}

/// Result of the main agent's only call, without the id. The main agent's run itself must succeed.
fn result(run: &Run) -> Value {
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    without_id(run.result().json())
}
