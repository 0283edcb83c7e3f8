//! Contract `result`: agents from files, four fields, and errors in fixed words.

mod answer;
mod blocks;
mod errors;
mod files;
mod instances;
mod library;
mod safety;
mod schema;
mod selection;
mod speed;

use serde_json::{Value, json};
use sortie_testkit::{ScriptedPart, ScriptedServer, reply};

use crate::world::{Ended, Run, World};

const REVIEWER: &str = "code-reviewer";

/// World with the three agents of the specification's example.
fn with_agents() -> World {
    let world = World::new();
    agent(&world, REVIEWER, "Reviews TypeScript code for bugs and style");
    agent(&world, "documentation-writer", "Writes documentation for public interfaces");
    agent(&world, "test-generator", "Generates unit tests");
    world
}

/// Adds a minimal agent of the user.
fn agent(world: &World, name: &str, description: &str) {
    agent_with(world, name, &format!("description: {description}"));
}

/// Adds an agent with these lines of front matter.
fn agent_with(world: &World, name: &str, lines: &str) {
    let text = format!("---\nname: {name}\n{lines}\n---\nYou are the {name}.\n");
    world.write(&format!("home/.config/sortie/agents/{name}.md"), &text);
}

fn arguments(agent: &str, prompt: &str) -> Value {
    json!({"description": "Review the code", "prompt": prompt, "subagent_type": agent})
}

fn task(agent: &str, prompt: &str) -> ScriptedPart {
    reply::call("Task", arguments(agent, prompt))
}

/// Answer of `sortie task` to these arguments.
fn answer(world: &World, server: &ScriptedServer, arguments: &str) -> Ended {
    world.sortie(["task", "--contract", "result", "--json", arguments]).on(server, "anthropic").run()
}

/// Answer for a task that did not succeed.
fn failed(error: &str, short: &str) -> Value {
    json!({"success": false, "content": "", "error": error, "shortResult": short})
}

/// Answer for a task that was never started.
fn not_delegated(error: &str) -> Value {
    failed(error, "Task delegation failed")
}

/// Result of the main agent's only call. The main agent's run itself must succeed.
fn result(run: &Run) -> Value {
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    run.result().json()
}
