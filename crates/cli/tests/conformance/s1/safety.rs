//! A sub-agent has the tools that its file names and the files of the workspace, and nothing more.

use std::os::unix::fs::symlink;

use serde_json::json;
use sortie_testkit::{reply, when};

use super::{agent_with, result, task, with_agents};
use crate::world::{Run, WIRES, World, main_agent_calls};

/// Results of these calls that a sub-agent's model made in one turn.
fn forced(world: &World, agent: &str, calls: &[(&str, serde_json::Value)]) -> Vec<String> {
    let calls = calls.iter().map(|(tool, arguments)| reply::call(*tool, arguments.clone()));
    let script = main_agent_calls([task(agent, "CHILD works")])
        .on(when::turn(0), reply::calls(calls))
        .otherwise(reply::text("Done."));
    let run = Run::of(world, "result", "anthropic", script);
    assert_eq!(result(&run)["content"], "Done.");
    run.sub_agents()[1].results.iter().map(|result| result.text.clone()).collect()
}

#[test]
fn s1_40_only_the_tools_of_the_file_are_offered() {
    for wire in WIRES {
        let world = with_agents();
        agent_with(&world, "reader", "description: Reads\ntools: [Read, Grep]");
        let script = main_agent_calls([task("reader", "CHILD works")]).otherwise(reply::text("Done."));
        let run = Run::of(&world, "result", wire, script);
        assert_eq!(run.sub_agents()[0].tool_names(), ["Grep", "Read"]);
        assert!(run.main_agent()[0].offers("Glob"), "its parent has more");
    }
}

#[test]
fn s1_40_a_call_of_any_other_tool_is_refused_and_does_nothing() {
    let world = with_agents();
    agent_with(&world, "reader", "description: Reads\ntools: [Read, Grep]");
    let calls = [
        ("Glob", json!({"pattern": "**"})),
        ("LS", json!({})),
        ("ls", json!({})),
        ("Write", json!({"file_path": "new.txt", "content": "x"})),
        ("Bash", json!({"command": "touch new.txt"})),
        ("Task", super::arguments("test-generator", "CHILD of the child")),
        ("Read", json!({"file_path": "src/main.rs"})),
    ];
    let told = forced(&world, "reader", &calls);
    for ((tool, _), told) in calls.iter().zip(&told).take(6) {
        assert!(told.contains(tool) && told.contains("You have: Read, Grep."), "{tool}: {told}");
    }
    assert!(told[6].contains("mod auth;"), "{}", told[6]);
    assert!(!world.path("workspace/new.txt").exists());
}

#[test]
fn k03_s1_42_files_outside_the_workspace_cannot_be_read_by_any_path() {
    let world = with_agents();
    let secret = world.write("outside/secret.txt", "TOPSECRET = 1\n");
    symlink(&secret, world.path("workspace/link.txt")).unwrap();
    symlink(secret.parent().unwrap(), world.path("workspace/linked")).unwrap();
    let read = |path: &str| ("Read", json!({"file_path": path}));
    let calls = [
        read("/etc/passwd"),
        read("../outside/secret.txt"),
        read("src/../../outside/secret.txt"),
        read(secret.to_str().unwrap()),
        read("link.txt"),
        read("linked/secret.txt"),
        ("LS", json!({"path": ".."})),
        ("Grep", json!({"pattern": "TOPSECRET", "path": "../outside"})),
        ("Glob", json!({"pattern": "../outside/*"})),
        ("Grep", json!({"pattern": "= 1"})),
    ];
    let told = forced(&world, "code-reviewer", &calls);
    for ((tool, arguments), told) in calls.iter().zip(&told) {
        assert!(!told.contains("TOPSECRET = 1") && !told.contains("root:"), "{tool} {arguments}: {told}");
    }
    for told in &told[..6] {
        assert!(told.contains("outside"), "it is told why: {told}");
    }
}

#[test]
fn s1_42_a_named_directory_is_reached_and_its_neighbours_are_not() {
    let world = with_agents();
    let named = world.write("named/notes.txt", "NAMED = 1\n");
    world.write("named-too/notes.txt", "TOPSECRET = 1\n");
    let calls = [named.display().to_string(), "../named/notes.txt".to_owned(), "../named-too/notes.txt".to_owned()]
        .map(|path| reply::call("Read", json!({"file_path": path})));
    let script = main_agent_calls([task("code-reviewer", "CHILD works")])
        .on(when::turn(0), reply::calls(calls))
        .otherwise(reply::text("Done."));
    let run = Run::with(&world, "result", "anthropic", script, &["--add-dir", "../named"]);
    assert_eq!(result(&run)["content"], "Done.");
    let told = &run.sub_agents()[1].results;
    assert!(told[0].text.contains("NAMED = 1") && told[1].text.contains("NAMED = 1"), "{told:#?}");
    assert!(told[2].text.contains("is outside the workspace"), "{:?}", told[2]);
}
