//! Tools of each type.

use serde_json::json;
use sortie_testkit::{reply, when};

use super::{result, task};
use crate::world::{Heard, Run, WIRES, World, main_agent_calls};

/// First request of a sub-agent of this type, and first of the main agent.
fn first_requests(world: &World, agent: &str, wire: &str) -> (Heard, Heard) {
    let script = main_agent_calls([task(agent, "CHILD works")]).otherwise(reply::text("Done."));
    let run = Run::of(world, "typed", wire, script);
    assert_eq!(result(&run)["result"], "Done.", "{agent}");
    (run.sub_agents().remove(0), run.main_agent().remove(0))
}

#[test]
fn s3_01_s3_15_explore_reads_and_does_nothing_else() {
    for wire in WIRES {
        let (explore, _) = first_requests(&World::new(), "Explore", wire);
        for tool in ["Read", "Glob", "Grep", "LS"] {
            assert!(explore.offers(tool), "{tool}: {:?}", explore.tool_names());
        }
        let known = ["Read", "Glob", "Grep", "LS", "WebFetch"];
        assert!(explore.tool_names().iter().all(|tool| known.contains(tool)), "{:?}", explore.tool_names());
    }
}

#[test]
fn s3_17_bash_runs_commands_and_does_nothing_else() {
    for wire in WIRES {
        let (bash, _) = first_requests(&World::new(), "Bash", wire);
        assert_eq!(bash.tool_names(), ["Bash", "BashOutput", "KillShell"]);
        let said = &bash.tool("Bash").schema["properties"]["run_in_background"]["description"];
        assert_eq!(said, "do not wait; BashOutput reads it; KillShell or the end of your task ends it");
    }
    let script = main_agent_calls([task("Bash", "CHILD works")])
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]))
        .otherwise(reply::text("Done."));
    let run = Run::with(&World::new(), "typed", "anthropic", script, &["--permission-mode", "bypass"]);
    let told = run.sub_agents()[1].results.remove(0);
    assert!(told.is_error && told.text.contains("You have: Bash, BashOutput, KillShell."), "{told:?}");
}

#[test]
fn s3_18_general_purpose_has_all_tools_of_its_parent_except_delegation() {
    for wire in WIRES {
        let (general, main) = first_requests(&World::new(), "general-purpose", wire);
        assert_eq!(general.tool_names(), main.tools_of_a_leaf());
        assert!(general.offers("TodoWrite"));
        let one_deeper = ["--set", "task_tool.max_depth=2"];
        let script = main_agent_calls([task("general-purpose", "CHILD works")]).otherwise(reply::text("Done."));
        let run = Run::with(&World::new(), "typed", wire, script, &one_deeper);
        for tool in ["Task", "TaskOutput", "TaskStop"] {
            assert!(run.sub_agents()[0].offers(tool), "{tool}, where the depth allows it");
        }
    }
}

#[test]
fn s3_23_a_star_in_an_agents_file_means_all_tools_of_its_parent() {
    let world = World::new();
    let text = "---\nname: anything\ndescription: Does anything\ntools: \"*\"\n---\nYou do anything.\n";
    world.write("home/.config/sortie/agents/anything.md", text);
    let (anything, main) = first_requests(&world, "anything", "anthropic");
    assert_eq!(anything.tool_names(), main.tools_of_a_leaf());
}

#[test]
fn s3_24_a_call_outside_of_the_types_tools_is_refused_however_it_is_spelt() {
    let world = World::new();
    let forbidden = [
        ("TodoWrite", json!({"todos": []})),
        ("todowrite", json!({"todos": []})),
        ("Write", json!({"file_path": "new.txt", "content": "x"})),
        ("Edit", json!({"file_path": "src/main.rs", "old_string": "mod", "new_string": "x"})),
        ("Bash", json!({"command": "touch new.txt"})),
        ("Task", super::arguments("Explore", "GRANDCHILD")),
        ("task", super::arguments("Explore", "GRANDCHILD")),
    ];
    let calls = forbidden.iter().map(|(tool, arguments)| reply::call(*tool, arguments.clone()));
    let script = main_agent_calls([task("Explore", "CHILD works")])
        .on(when::turn(0), reply::calls(calls))
        .otherwise(reply::text("Done."));
    let run = Run::of(&world, "typed", "anthropic", script);
    assert_eq!(result(&run)["result"], "Done.");
    let results = &run.sub_agents()[1].results;
    for ((tool, _), result) in forbidden.iter().zip(results) {
        assert!(result.is_error && result.text.contains(tool), "{tool}: {result:?}");
        assert!(result.text.contains("You have: Read, LS, Glob, Grep"), "{tool}: {result:?}");
    }
    assert_eq!(run.sub_agent("GRANDCHILD").len(), 0);
    assert!(!world.path("workspace/new.txt").exists());
    assert_eq!(std::fs::read_to_string(world.path("workspace/src/main.rs")).unwrap(), "mod auth;\n\nfn main() {}\n");
}
