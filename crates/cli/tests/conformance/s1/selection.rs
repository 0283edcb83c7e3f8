//! Selection of the agent: by name, else by the best description, else none.

use serde_json::{Value, json};
use sortie_testkit::{Script, reply};

use super::{agent, not_delegated, result, with_agents};
use crate::world::{Run, World, main_agent_calls};

/// Result of a call for this type with this description, and the system prompt of the agent that served it.
fn delegated(world: &World, agent: &str, description: &str) -> (Value, Option<String>) {
    let call = json!({"description": description, "prompt": "CHILD works", "subagent_type": agent});
    let script = main_agent_calls([reply::call("Task", call)]).otherwise(reply::text("Done."));
    let run = Run::of(world, "result", "anthropic", script);
    (result(&run), run.sub_agents().first().map(|heard| heard.system.clone()))
}

fn served_by(name: &str) -> (Value, Option<String>) {
    let answer = json!({"success": true, "content": "Done.", "shortResult": format!("Task completed by {name}")});
    (answer, Some(format!("You are the {name}.")))
}

#[test]
fn s1_23_an_exact_name_wins_over_any_description() {
    let world = with_agents();
    let given = delegated(&world, "test-generator", "review typescript code for bugs and style");
    assert_eq!(given, served_by("test-generator"));
}

#[test]
fn s1_13_s1_23_an_unknown_name_is_matched_by_description_and_the_result_names_the_agent() {
    let world = with_agents();
    for _again in 0..3 {
        assert_eq!(delegated(&world, "reviewer-thing", "review typescript code"), served_by("code-reviewer"));
    }
    assert_eq!(delegated(&world, "writer", "write the documentation"), served_by("documentation-writer"));
}

#[test]
fn s1_23_an_equal_match_is_decided_the_same_way_every_time() {
    let world = World::new();
    agent(&world, "beta", "Translates legal contracts");
    agent(&world, "alpha", "Translates legal contracts");
    let first = delegated(&world, "translator", "translate legal contracts");
    assert_eq!(first, served_by("alpha"), "between equal ones the name decides");
    for _again in 0..3 {
        assert_eq!(delegated(&world, "translator", "translate legal contracts"), first);
    }
}

#[test]
fn s1_16_s1_23_without_a_match_the_agents_are_listed_and_none_starts() {
    let (given, served) = delegated(&with_agents(), "wizard", "xyzzy plugh");
    let listed = "Available: code-reviewer, documentation-writer, test-generator";
    assert_eq!(given, not_delegated(&format!("Subagent 'wizard' not found. {listed}")));
    assert_eq!(served, None);
}

#[test]
fn s1_13_a_task_of_a_program_is_matched_in_the_same_way() {
    let (world, request) = (
        with_agents(),
        json!({"description": "review typescript code", "prompt": "p", "subagent_type": "reviewer-thing"}).to_string(),
    );
    let server = sortie_testkit::ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let ended = super::answer(&world, &server, &request);
    assert_eq!(ended.stdout_json(), served_by("code-reviewer").0);
}
