//! A sub-agent's changes are in its result: K16.

use std::fs;

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use super::{CONTRACT, task};
use crate::world::{Run, WIRES, World, main_agent_calls};

fn write(path: &str, content: &str) -> ScriptedPart {
    reply::call("Write", json!({"file_path": path, "content": content}))
}

fn read(path: &str) -> ScriptedPart {
    reply::call("Read", json!({"file_path": path}))
}

fn edit(path: &str, old: &str, new: &str) -> ScriptedPart {
    reply::call("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

/// Sub-agent that makes these calls turn by turn and then reports.
fn working(turns: Vec<Vec<ScriptedPart>>, report: &str) -> Script {
    let script = main_agent_calls([task("CHILD work")]);
    let numbered = (0..).zip(turns);
    numbered
        .fold(script, |script, (turn, calls)| {
            script.on(when::prompt_contains("CHILD work").turn(turn), reply::calls(calls))
        })
        .otherwise(reply::text(report))
}

fn modified(result: &Value) -> Vec<&str> {
    let mut files: Vec<&str> =
        result["files_modified"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    files.sort_unstable();
    files
}

#[test]
fn k16_s2_72_a_task_of_several_file_operations_makes_them_and_lists_them() {
    for wire in WIRES {
        let world = World::new();
        let turns = vec![
            vec![write("docs/new.md", "# New\n"), read("src/main.rs"), read("src/auth.rs")],
            vec![edit("src/main.rs", "fn main() {}", "fn main() { auth::login(); }")],
            vec![reply::call(
                "MultiEdit",
                json!({"file_path": "src/auth.rs", "edits": [
                    {"old_string": "Result<(), AuthError>", "new_string": "bool"},
                    {"old_string": "Err(AuthError)", "new_string": "false"},
                ]}),
            )],
        ];
        let run =
            Run::with(&world, CONTRACT, wire, working(turns, "All done."), &["--permission-mode", "accept-edits"]);
        let result = run.result().json();
        assert_eq!((&result["success"], &result["summary"]), (&json!(true), &json!("All done.")));
        assert_eq!(modified(&result), ["docs/new.md", "src/auth.rs", "src/main.rs"]);
        let text = |path: &str| fs::read_to_string(world.path("workspace").join(path)).unwrap();
        assert_eq!(text("docs/new.md"), "# New\n");
        assert_eq!(text("src/main.rs"), "mod auth;\n\nfn main() { auth::login(); }\n");
        assert_eq!(text("src/auth.rs"), "pub fn login() -> bool {\n    false\n}\n");
    }
}

#[test]
fn k16_s2_35_what_commands_make_change_and_remove_is_listed_too() {
    let world = World::new();
    world.write("workspace/old.txt", "old\n");
    let command = "echo x > made.txt && echo '// more' >> src/main.rs && rm old.txt && cat src/auth.rs";
    let turns = vec![vec![reply::call("Bash", json!({"command": command}))]];
    let run = Run::with(&world, CONTRACT, "anthropic", working(turns, "Done."), &["--permission-mode", "bypass"]);
    let result = run.result().json();
    assert_eq!(modified(&result), ["made.txt", "old.txt", "src/main.rs"], "{result}");
    assert!(!world.path("workspace/old.txt").exists());
}

#[test]
fn s2_51_dangerous_calls_can_be_prevented() {
    let world = World::new();
    let command = |line: &str| reply::call("Bash", json!({"command": line}));
    let turns = vec![vec![command("git status; rm -rf src"), command("echo '#!/bin/sh' > .git/hooks/post-checkout")]];
    let flags = ["--permission-mode", "bypass", "--deny", "Bash(rm:*)"];
    let run = Run::with(&world, CONTRACT, "anthropic", working(turns, "Refused."), &flags);
    for told in &run.sub_agents()[1].results {
        assert!(told.is_error && told.text.contains("denied"), "{told:?}");
    }
    assert!(world.path("workspace/src/main.rs").exists());
    assert!(!world.path("workspace/.git/hooks/post-checkout").exists());
}

#[test]
fn k16_s2_12_findings_changed_files_and_errors_are_in_the_result() {
    let world = World::new();
    let turns = vec![vec![
        write("docs/new.md", "# New\n"),
        edit("src/main.rs", "mod auth;", "not read before"),
        write("../outside.md", "x"),
        read("no/such/file"),
    ]];
    let report = "Found the login. The edit of src/main.rs failed.";
    let run = Run::with(&world, CONTRACT, "anthropic", working(turns, report), &["--permission-mode", "accept-edits"]);
    let result = run.result().json();
    assert_eq!(modified(&result), ["docs/new.md"], "what failed changed nothing");
    assert_eq!(result["summary"], report);
    let told = &run.sub_agents()[1].results;
    assert_eq!(told.iter().map(|result| result.is_error).collect::<Vec<_>>(), [false, true, true, true]);
    // A sub-agent that breaks after a change still reports it.
    let broken = main_agent_calls([task("CHILD work")])
        .on(when::turn(0), reply::calls([write("docs/second.md", "x")]))
        .otherwise(reply::status(400));
    let run = Run::with(&world, CONTRACT, "anthropic", broken, &["--permission-mode", "accept-edits"]);
    let result = run.result().json();
    assert_eq!((&result["success"], modified(&result)), (&json!(false), vec!["docs/second.md"]));
    assert!(result["error"].as_str().unwrap().contains("400"), "{result}");
}
