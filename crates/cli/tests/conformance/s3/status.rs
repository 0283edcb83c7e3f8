//! Description of a type, and status of a sub-agent.

use sortie_testkit::{ScriptedServer, reply, when};

use super::{result, task};
use crate::program::wait_for;
use crate::world::{QUESTION, Run, World, main_agent_calls};

#[test]
fn s3_11_a_type_is_shown_with_its_tools_model_turns_and_prompt() {
    let world = World::new();
    for (name, tools, model, turns, prompt) in [
        ("Explore", "Read, Glob, Grep, LS, WebFetch", "haiku", "10", "exploration specialist"),
        ("Plan", "Read, Glob, Grep, LS, WebFetch, TodoWrite", "sonnet", "5", "software architect"),
        ("general-purpose", "everything that its parent has", "sonnet", "20", "general-purpose coding assistant"),
    ] {
        let shown = world.sortie(["agents", "show", name, "--contract", "typed"]).run().stdout;
        let (table, role) = shown.split_once("\n\n").unwrap();
        let row = |label: &str| {
            let found = table.lines().find_map(|line| line.strip_prefix(label));
            found.unwrap_or_else(|| panic!("no {label}: {shown}")).trim()
        };
        assert!([row("name"), row(if name == "general-purpose" { "name" } else { "type" })].contains(&name), "{shown}");
        assert_eq!((row("tools"), row("model"), row("max turns")), (tools, model, turns), "{shown}");
        assert!(role.contains(prompt), "{shown}");
    }
}

/// States of all sub-agents by `sortie tasks`, sorted by agent.
fn states(world: &World) -> Vec<(String, String)> {
    let listed = world.sortie(["tasks", "list", "--all", "--json", "--contract", "typed"]).run().stdout_json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let tasks = listed.as_array().unwrap().iter().filter(|task| task["depth"] == 1);
    let mut states: Vec<_> = tasks.map(|task| (text(&task["agent"]), text(&task["status"]))).collect();
    states.sort();
    states
}

#[test]
fn s3_13_a_sub_agent_is_running_then_completed_or_an_error_and_everyone_can_see_it() {
    let calls = [task("Explore", "WAITS"), task("Plan", "BREAKS")];
    let script = main_agent_calls(calls)
        .on(when::prompt_contains("WAITS"), reply::text("Done.").held_by("gate"))
        .otherwise(reply::status(400).held_by("other gate"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = world.sortie(["run", "--contract", "typed", QUESTION]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.in_flight == 2);
    let state = |agent: &str, state: &str| (agent.to_owned(), state.to_owned());
    // They work for a moment before the journal shows it.
    let seen = std::iter::repeat_with(|| states(&world)).take(100).find(|states| states.len() == 2);
    assert_eq!(seen.unwrap_or_default(), [state("explore", "running"), state("plan", "running")]);
    server.gate("gate").open();
    server.gate("other gate").open();
    assert_eq!(live.wait().code, 0);
    assert_eq!(states(&world), [state("explore", "completed"), state("plan", "error")]);
    let listed = world.sortie(["tasks", "list", "--all", "--contract", "typed"]).run().stdout;
    assert!(listed.contains("  error (failed)  plan ") && listed.contains("  completed       explore "), "{listed}");
}

#[test]
fn s3_13_the_id_in_the_answer_leads_to_the_status() {
    let world = World::new();
    let script = main_agent_calls([task("Explore", "CHILD looks")]).otherwise(reply::text("Done."));
    let run = Run::of(&world, "typed", "anthropic", script);
    assert_eq!(result(&run)["success"], true);
    let id = run.result().json()["agentId"].as_str().unwrap().to_owned();
    let shown = world.sortie(["tasks", "show", &id, "--json"]).run().stdout_json();
    assert_eq!((&shown["task_id"], &shown["status"]), (&id.as_str().into(), &"completed".into()));
}

#[test]
fn s3_13_a_sub_agent_that_broke_is_shown_as_an_error_with_its_reason() {
    let world = World::new();
    let script = main_agent_calls([task("Explore", "CHILD looks")]).otherwise(reply::status(400));
    let run = Run::of(&world, "typed", "anthropic", script);
    let id = run.result().json()["agentId"].as_str().unwrap().to_owned();
    let shown = world.sortie(["tasks", "show", &id, "--contract", "typed"]).run().stdout;
    assert!(shown.starts_with(&format!("{id} explore error (failed)\n")) && shown.contains("400"), "{shown}");
}
