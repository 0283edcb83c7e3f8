//! Tools of a sub-agent: S0-03, S0-07, S0-08, S0-19, S0-53 to S0-57, S0-70, S0-71.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use sortie_testkit::{reply, when};

use super::errand::{answer, arguments, delegating, run, run_with, task};
use crate::world::{DONE, WIRES, World, main_agent_calls};

const TYPES: [&str; 4] = ["general", "explore", "summary", "plan"];
const ALLOWED: [&str; 5] = ["Glob", "Grep", "LS", "Read", "TodoWrite"];

/// Every file below a directory with its bytes.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| {
        let own = || BTreeMap::from([(path.display().to_string(), fs::read(&path).unwrap())]);
        if path.is_dir() { files(&path) } else { own() }
    });
    found.collect()
}

#[test]
fn s0_03_s0_19_s0_56_every_type_is_offered_exactly_the_five_tools() {
    for wire in WIRES {
        for subagent_type in TYPES {
            let script = delegating(arguments(subagent_type)).otherwise(reply::text("FINAL"));
            let run = run(&World::new(), wire, script);
            assert_eq!(run.sub_agents()[0].tool_names(), ALLOWED, "{subagent_type}");
        }
    }
}

#[test]
fn s0_56_each_of_the_five_tools_works() {
    let todo = json!({"todos": [{"content": "look", "status": "in_progress"}]});
    let calls = [
        reply::call("LS", json!({"path": "src"})),
        reply::call("TodoWrite", todo),
        reply::call("Glob", json!({"pattern": "**/*.rs"})),
        reply::call("Grep", json!({"pattern": "AuthError"})),
        reply::call("Read", json!({"file_path": "src/main.rs"})),
    ];
    let script =
        delegating(arguments("summary")).on(when::turn(0), reply::calls(calls)).otherwise(reply::text("FINAL"));
    let run = run(&World::new(), "anthropic", script);
    let results = &run.sub_agents()[1].results;
    let shown = ["auth.rs", r#""content":"look""#, "src/main.rs", "src/auth.rs", "mod auth;"];
    for (result, shown) in results.iter().zip(shown) {
        assert!(!result.is_error && result.text.contains(shown), "{shown}: {result:#?}");
    }
    assert_eq!(answer(&run)["stats"]["tool_calls"], 5);
}

#[test]
fn s0_54_a_refusal_names_the_type_as_the_contract_does() {
    let call = reply::call("Bash", json!({"command": "true"}));
    let script =
        delegating(arguments("general")).on(when::turn(0), reply::calls([call])).otherwise(reply::text("FINAL"));
    let run = run_with(&World::new(), "anthropic", script, &["--permission-mode", "bypass"]);
    let told = &run.sub_agents()[1].results[0].text;
    assert!(told.contains("by agent general") && !told.contains("general-purpose"), "{told}");
    for other in ["MultiEdit", "WebFetch", "BashOutput", "Task "] {
        assert!(!told.contains(other), "{other}: {told}");
    }
}

#[test]
fn s0_54_s0_55_s0_70_forbidden_tools_are_refused_one_by_one_however_they_are_spelt_and_nothing_changes() {
    let target = json!({"file_path": "src/main.rs", "content": "gone", "old_string": "mod", "new_string": "x",
        "command": "rm -rf .", "edits": [], "description": "d", "prompt": "GRANDCHILD", "subagent_type": "general"});
    for wire in WIRES {
        let names = ["Task", "Write", "Edit", "MultiEdit", "Bash", "task", "WRITE", "edit", "multiedit", "bash"];
        let calls = names.map(|name| reply::call(name, target.clone()));
        let script =
            delegating(arguments("general")).on(when::turn(0), reply::calls(calls)).otherwise(reply::text("FINAL"));
        let world = World::new();
        let before = files(&world.path("workspace"));
        let run = run(&world, wire, script);
        assert_eq!(files(&world.path("workspace")), before, "S0-54");
        let results = run.sub_agents()[1].results.clone();
        assert_eq!(results.len(), names.len());
        for (name, result) in names.iter().zip(&results) {
            let says_no = result.text.contains("is not granted") || result.text.contains("There is no tool");
            assert!(says_no && result.text.contains(name), "S0-55, S0-70: {name}: {result:#?}");
        }
        assert!(!run.sub_agents().iter().any(|heard| heard.prompt == "GRANDCHILD"));
        let answer = answer(&run);
        assert_eq!((&answer["status"], &answer["stats"]["tool_calls"]), (&json!("success"), &json!(0)));
        assert_eq!(run.ended.stdout, format!("{DONE}\n"));
    }
}

#[test]
fn s0_07_s0_53_s0_71_a_sub_agent_cannot_delegate_however_deep_the_settings_allow() {
    let deeper = task(json!({"description": "d", "prompt": "GRANDCHILD", "subagent_type": "explore"}));
    for flags in [&[][..], &["--set", "task_tool.max_depth=5"]] {
        let script = delegating(arguments("general"))
            .on(when::prompt_contains("CHILD looks").turn(0), reply::calls([deeper.clone()]))
            .otherwise(reply::text("FINAL"));
        let run = run_with(&World::new(), "anthropic", script, flags);
        let child = run.sub_agents();
        assert_eq!(child.len(), 2, "it continues, and nobody is below it");
        assert!(!child[0].offers("Task"));
        assert!(child[1].results[0].is_error, "{child:#?}");
        assert_eq!(answer(&run)["data"]["result"], "FINAL");
    }
}

#[test]
fn s0_08_the_deny_list_holds_whatever_a_users_agent_file_and_settings_grant() {
    let world = World::new();
    let agent = "---\nname: explore\ndescription: mine\ntools: Task, Read\n---\nMine.\n";
    world.write("home/.config/sortie/agents/explore.md", agent);
    let deeper = task(json!({"description": "d", "prompt": "GRANDCHILD", "subagent_type": "explore"}));
    let script = delegating(arguments("explore"))
        .on(when::prompt_contains("CHILD looks").turn(0), reply::calls([deeper]))
        .otherwise(reply::text("FINAL"));
    let run = run_with(&world, "anthropic", script, &["--set", "task_tool.max_depth=5"]);
    let child = run.sub_agents();
    assert!(child[0].system.starts_with("Mine."), "the file is in use: {}", child[0].system);
    assert_eq!(child[0].tool_names(), ["Read"]);
    assert_eq!(child.len(), 2, "it continues at once: nobody was asked, and there is no grandchild");
    assert!(child[1].results[0].text.contains("Task is not granted to this task (by the contract)"), "{child:#?}");
}

#[test]
fn s0_08_nothing_grants_a_tool_of_the_deny_list_and_nobody_is_asked() {
    let world = World::new();
    let agent = "---\nname: explore\ndescription: mine\ntools: Read, Bash, Write, Edit\npermissionMode: bypassPermissions\n---\nMine.\n";
    world.write("home/.config/sortie/agents/explore.md", agent);
    world.config("[permissions]\nmode = \"bypass\"\nallow = [\"Bash\", \"Write\", \"Edit\", \"MultiEdit\"]\n");
    let before = files(&world.path("workspace"));
    let calls = [
        reply::call("Bash", json!({"command": "touch made-by-bash"})),
        reply::call("Write", json!({"file_path": "made.txt", "content": "x"})),
        reply::call("Edit", json!({"file_path": "src/main.rs", "old_string": "mod auth;", "new_string": ""})),
    ];
    let script = delegating(arguments("explore"))
        .on(when::prompt_contains("CHILD looks").turn(0), reply::calls(calls))
        .otherwise(reply::text("FINAL"));
    let flags =
        ["--permission-mode", "bypass", "--allow", "Bash", "--allow", "Write", "--output-format", "stream-json"];
    let run = run_with(&world, "anthropic", script, &flags);
    let child = run.sub_agents();
    assert!(child[0].system.starts_with("Mine."), "the file is in use: {}", child[0].system);
    assert!(child[0].tool_names().iter().all(|tool| ALLOWED.contains(tool)), "{:?}", child[0].tool_names());
    let results = &child[1].results;
    assert!(results.len() == 3 && results.iter().all(|result| result.is_error), "{results:#?}");
    assert!(results.iter().all(|result| result.text.contains("is not granted to this task")), "{results:#?}");
    assert!(!run.ended.stdout.contains("\"ask") && !run.ended.stderr.contains("llow"), "{:#?}", run.ended);
    assert_eq!(files(&world.path("workspace")), before);
}

#[test]
fn s0_57_a_todo_list_stays_with_the_sub_agent_that_wrote_it() {
    let todo =
        |content: &str| reply::call("TodoWrite", json!({"todos": [{"content": content, "status": "in_progress"}]}));
    let script = main_agent_calls([todo("LIST-OF-MAIN"), task(arguments("general"))])
        .on(when::turn(0), reply::calls([todo("LIST-OF-CHILD")]))
        .on(when::turn(1), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::text("FINAL"));
    let world = World::new();
    let run = run(&world, "anthropic", script);
    let child = run.sub_agents();
    for request in &child[1..] {
        let list = &request.results[0].json()["data"]["todos"];
        assert_eq!(list[0]["content"], "LIST-OF-CHILD", "it is still there a turn later: {child:#?}");
    }
    assert!(child.iter().all(|heard| !heard.contains("LIST-OF-MAIN")));
    let main = run.main_agent().pop().unwrap();
    assert!(main.contains("LIST-OF-MAIN") && !main.contains("LIST-OF-CHILD"), "{main:#?}");
    let journal = world.sql();
    let recorded = "SELECT DISTINCT depth FROM events JOIN tasks USING (task) WHERE body LIKE '%LIST-OF-CHILD%'";
    let depths: Vec<u32> =
        journal.prepare(recorded).unwrap().query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(depths, [1], "kept in the sub-agent's own record");
    let in_workspace = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains("LIST-OF");
    assert!(!files(&world.path("workspace")).values().any(in_workspace));
}
