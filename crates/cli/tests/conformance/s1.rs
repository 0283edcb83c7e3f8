//! Document 001, the contract `result`: agents from files, four fields, and errors in fixed words.

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

/// A world with the three agents of the document's example.
fn with_agents() -> World {
    let world = World::new();
    agent(&world, REVIEWER, "Reviews TypeScript code for bugs and style");
    agent(&world, "documentation-writer", "Writes documentation for public interfaces");
    agent(&world, "test-generator", "Generates unit tests");
    world
}

/// Adds an agent of the user's that says no more of itself than it must.
fn agent(world: &World, name: &str, description: &str) {
    agent_with(world, name, &format!("description: {description}"));
}

/// Adds one with these lines of front matter.
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

/// The answer of `sortie task` to these arguments.
fn answer(world: &World, server: &ScriptedServer, arguments: &str) -> Ended {
    world.sortie(["task", "--contract", "result", "--json", arguments]).on(server, "anthropic").run()
}

/// An answer for a task that did not succeed.
fn failed(error: &str, short: &str) -> Value {
    json!({"success": false, "content": "", "error": error, "shortResult": short})
}

/// The answer for a task that was never started.
fn not_delegated(error: &str) -> Value {
    failed(error, "Task delegation failed")
}

/// What the main agent read as the result of its only call; its run went well whatever that was.
fn result(run: &Run) -> Value {
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    run.result().json()
}
