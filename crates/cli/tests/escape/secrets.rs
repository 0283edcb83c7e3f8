//! Keys and tokens stay out of histories, journals and logs, and nobody reads the environment.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::json;

use crate::aftermath::{Aftermath, assert_all_failed, holds};
use crate::calls::{call, delegated, every_look, main_agent, read};
use crate::world::{World, as_each_user};

/// Made of parts, so that this file contains nothing like a key.
fn keys() -> Vec<String> {
    let letters = |count: usize| "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC".chars().cycle().take(count).collect::<String>();
    vec![
        format!("ghp_{}", letters(36)),
        format!("github_pat_{}_{}", letters(22), letters(59)),
        format!("sk-ant-api03-{}", letters(80)),
        format!("sk-proj-{}", letters(48)),
        format!("AKIA{}", "QWERTYUIOPASDFGH"),
        format!("AIza{}", letters(35)),
        format!("xoxb-123456789012-123456789012-{}", letters(24)),
        format!("glpat-{}", letters(20)),
        format!("npm_{}", letters(36)),
        format!("sk_live_{}", letters(24)),
    ]
}

fn assert_nowhere(world: &World, after: &Aftermath, key: &str) {
    after.assert_unseen(key);
    for file in world.files("state") {
        let leaked = holds(&fs::read(&file).unwrap(), key);
        assert!(!leaked, "{key} is in {}", file.display());
    }
}

#[test]
fn s83_no_file_tool_reads_the_keys_of_a_home_that_is_the_workspace() {
    as_each_user(|world| {
        // The last one is where a run without SORTIE_HOME keeps its state.
        let kept = [".ssh/id_ed25519", ".netrc", ".aws/credentials", ".local/state/sortie/reports/agent-a.txt"];
        for place in kept {
            world.canary(&format!("home/{place}"));
        }
        world.link(".ssh", "home/link");
        world.write("home/notes.txt", "PLAIN\n");
        let home = world.name("home");
        for (flags, above) in [(["--cwd", &home], "."), (["--add-dir", &home], home.as_str())] {
            let path = |name: &str| format!("{above}/{name}");
            let looks =
                kept.iter().chain(&["link/id_ed25519", ".ssh", ".aws"]).flat_map(|name| every_look(&path(name)));
            let flags = [&["--permission-mode", "bypass"], &flags[..]].concat();
            let after = world.run(&flags, main_agent(looks));
            assert_all_failed(&after.assert_completed().answers(), "which no agent may read");
            let searches = [
                call("Grep", json!({"pattern": ".", "path": above, "output_mode": "content"})),
                read(&path("notes.txt")),
            ];
            let after = world.run(&flags, main_agent(searches));
            assert!(after.assert_completed().answers().iter().all(|answer| answer.text.contains("PLAIN")));
        }
    });
}

#[test]
fn s84_keys_in_tool_results_are_redacted_everywhere() {
    as_each_user(|world| {
        let lines: Vec<String> = keys().iter().map(|key| format!("token = {key}")).collect();
        world.write("workspace/keys.txt", lines.join("\n"));
        let looks = || [read("keys.txt"), call("Grep", json!({"pattern": "token", "output_mode": "content"}))];
        for script in [main_agent(looks()), delegated("explore", looks())] {
            let after = world.run(&[], script);
            after.assert_completed();
            for key in keys() {
                assert_nowhere(world, &after, &key);
            }
            let told: Vec<String> = after.requests.iter().map(|request| request.body.to_string()).collect();
            let marks = told.iter().map(|told| told.matches("[redacted: ").count()).max().unwrap();
            assert!(marks >= 20, "{marks} marks, ten for each look");
        }
        for file in world.files("state") {
            let mode = fs::metadata(&file).unwrap().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{} is open to others: {mode:o}", file.display());
        }
    });
}

#[test]
fn s84_the_programs_own_key_is_redacted_whatever_its_form() {
    as_each_user(|world| {
        // The values in the environment of `World::command` are too short to search for; these are not.
        world.write(
            "home/.config/sortie/config.toml",
            "[routes.light]\nbase_url = \"http://127.0.0.1:6\"\nmodel = \"m\"\napi_key = \"plainwordswithoutshape\"\n",
        );
        world.write("workspace/notes.txt", "the key is plainwordswithoutshape\n");
        let after = world.run(&[], main_agent([read("notes.txt")]));
        after.assert_completed();
        assert_nowhere(world, &after, "plainwordswithoutshape");
        assert!(after.answer_of("main").text.contains("the key is [redacted: "), "{after:#?}");
    });
}

#[test]
fn s83_the_environment_is_not_read_through_the_file_system() {
    as_each_user(|world| {
        world.link("/proc/self/environ", "workspace/environment");
        let calls = [read("/proc/self/environ"), read("environment"), read("/proc/self/../self/environ")];
        // The world checks its canary.
        let after = world.run(&["--permission-mode", "bypass"], main_agent(calls));
        assert_all_failed(&after.assert_completed().answers(), "is outside the workspace");
    });
}
