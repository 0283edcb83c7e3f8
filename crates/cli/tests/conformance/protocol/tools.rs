//! Results of the other tools, as the models of `envelope` receive them: P-11, P-14 and P-15, and the escapes of K03.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use super::conforming;
use crate::s0::{answer, arguments, delegating, run, run_with};
use crate::world::{DONE, ToolResult, WIRES, World, main_agent_calls};

/// Results that a sub-agent's model received for these calls, each checked against the protocol.
fn observed(world: &World, wire: &str, calls: impl IntoIterator<Item = ScriptedPart>) -> Vec<Value> {
    let script =
        delegating(arguments("general")).on(when::turn(0), reply::calls(calls)).otherwise(reply::text("FINAL"));
    let run = run(world, wire, script);
    assert_eq!(run.ended.stdout, format!("{DONE}\n"), "the main agent continues");
    objects(&run.sub_agents()[1].results)
}

fn objects(results: &[ToolResult]) -> Vec<Value> {
    results.iter().map(|result| conforming(result.json())).collect()
}

fn read(path: &str) -> ScriptedPart {
    reply::call("Read", json!({"file_path": path}))
}

/// One call of each tool, and its required payload.
fn each_tool() -> Vec<(&'static str, Value, Value)> {
    let first = json!({"file": "src/auth.rs", "line": 1, "text": "pub fn login() -> Result<(), AuthError> {"});
    let second = json!({"file": "src/auth.rs", "line": 2, "text": "    Err(AuthError)"});
    let todos = json!([{"content": "look", "status": "in_progress"}]);
    let entries = json!([{"path": "src/auth.rs", "type": "file"}, {"path": "src/main.rs", "type": "file"}]);
    vec![
        ("LS", json!({"path": "src"}), json!({"entries": entries})),
        ("Glob", json!({"pattern": "*.rs"}), json!({"paths": ["src/auth.rs", "src/main.rs"]})),
        ("Grep", json!({"pattern": "AuthError"}), json!({"matches": [first]})),
        ("Grep", json!({"pattern": "AuthError", "output_mode": "content"}), json!({"matches": [first, second]})),
        ("Read", json!({"file_path": "src/main.rs"}), json!({"content": "1\tmod auth;\n2\t\n3\tfn main() {}"})),
        ("TodoWrite", json!({"todos": todos}), json!({"todos": todos})),
    ]
}

#[test]
fn p_14_every_tool_answers_in_the_protocol_with_its_payload_under_its_name() {
    for wire in WIRES {
        let calls = each_tool().into_iter().map(|(tool, arguments, _)| reply::call(tool, arguments));
        let results = observed(&World::new(), wire, calls);
        assert_eq!(results.len(), each_tool().len());
        for ((tool, arguments, data), result) in each_tool().into_iter().zip(results) {
            assert_eq!(result["status"], "success", "{tool}: {result:#}");
            assert_eq!(result["data"], data, "{tool}");
            assert_eq!(result["context"]["params_input"], arguments, "P-07: {tool}");
            assert_eq!(result["context"]["cwd"], ".", "P-07: {tool}");
        }
    }
}

#[test]
fn p_14_entries_are_files_directories_and_links_by_their_paths_in_the_project() {
    let world = World::new();
    world.write("workspace/src/deep/inner/x.rs", "");
    symlink("../main.rs", world.path("workspace/src/deep/link")).unwrap();
    let list = |path: &str| reply::call("LS", json!({"path": path}));
    let results = observed(&world, "anthropic", [list("src/deep"), list(".")]);
    let expected = json!([{"path": "src/deep/inner/", "type": "dir"}, {"path": "src/deep/link", "type": "link"}]);
    assert_eq!(results[0]["data"]["entries"], expected);
    assert_eq!(
        results[1]["data"]["entries"],
        json!([{"path": ".git/", "type": "dir"}, {"path": "src/", "type": "dir"}])
    );
}

#[test]
fn p_14_the_main_agents_own_tools_answer_in_the_protocol_too() {
    let calls = each_tool().into_iter().map(|(tool, arguments, _)| reply::call(tool, arguments));
    let run = run(&World::new(), "anthropic", main_agent_calls(calls));
    for ((tool, _, data), result) in each_tool().into_iter().zip(objects(&run.results())) {
        assert_eq!(result["data"], data, "{tool}");
    }
}

#[test]
fn p_14_edit_and_write_report_the_applied_change() {
    let world = World::new();
    let write = reply::call("Write", json!({"file_path": "new.txt", "content": "one\n"}));
    let edit = reply::call("Edit", json!({"file_path": "new.txt", "old_string": "one", "new_string": "two"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([write]))
        .on(when::turn(1), reply::calls([edit]))
        .otherwise(reply::text(DONE));
    let run = run_with(&world, "anthropic", script, &["--permission-mode", "accept-edits"]);
    let results = objects(&run.results());
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["status"], "success", "{result:#}");
        assert!(result["data"].get("applied").is_some(), "{result:#}");
        assert_eq!(result["context"]["path_resolved"], "new.txt", "{result:#}");
    }
    assert_eq!(fs::read_to_string(world.path("workspace/new.txt")).unwrap(), "two\n");
}

#[test]
fn p_04_p_14_a_file_with_more_matches_than_shown_is_marked() {
    let results = observed(
        &World::new(),
        "anthropic",
        [
            reply::call("Grep", json!({"pattern": "AuthError"})),
            reply::call("Grep", json!({"pattern": "AuthError", "output_mode": "content"})),
            reply::call("Grep", json!({"pattern": "mod auth"})),
        ],
    );
    let more = "1 file has more matches than the first, which is shown; output_mode content shows all";
    let said = results.iter().map(|result| result["text"].as_str().unwrap().contains(more));
    assert_eq!(said.collect::<Vec<_>>(), [true, false, false], "{results:#?}");
}

#[test]
fn p_14_the_models_received_what_was_recorded() {
    let world = World::new();
    let result = observed(&world, "anthropic", [read("src/main.rs")]).remove(0);
    let journal = world.sql();
    let recorded: String = journal
        .query_row("SELECT body FROM events WHERE body LIKE '%mod auth%params_input%'", (), |row| row.get(0))
        .unwrap();
    let recorded: Value = serde_json::from_str(&recorded).unwrap();
    let text = recorded["for_model"].as_str().unwrap_or_else(|| panic!("{recorded:#}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result);
}

#[test]
fn p_11_a_requested_page_is_whole_and_marked_as_not_to_be_cut() {
    let world = World::new();
    let lines: Vec<String> = (1..=4000).map(|number| format!("l{number}")).collect();
    world.write("workspace/long.txt", &lines.join("\n"));
    let page = |arguments: Value| reply::call("Read", arguments);
    for wire in WIRES {
        let calls = [
            page(json!({"file_path": "long.txt", "limit": 3000})),
            page(json!({"file_path": "long.txt", "offset": 3001, "limit": 1000})),
            page(json!({"file_path": "long.txt"})),
        ];
        let results = observed(&world, wire, calls);
        for (result, (first, last), status) in [
            (&results[0], (1, 3000), "success"),
            (&results[1], (3001, 4000), "success"),
            // The call itself did not ask for so few.
            (&results[2], (1, 2000), "partial"),
        ] {
            assert_eq!(result["context"]["truncation_skip"], true);
            assert_eq!((&result["status"], result["data"].get("truncated")), (&json!(status), None), "P-10");
            let content = result["data"]["content"].as_str().unwrap();
            assert_eq!(content.lines().count(), last + 1 - first, "above 2,000 lines all the same");
            assert!(
                content.starts_with(&format!("{first}\tl{first}\n")) && content.ends_with(&format!("{last}\tl{last}"))
            );
        }
        assert!(results[2]["text"].as_str().unwrap().contains("continue with offset 2001"), "{:#}", results[2]);
    }
}

#[test]
fn p_02_p_09_a_tool_that_could_not_show_everything_is_partial() {
    let world = World::new();
    for number in 0..1100 {
        world.write(&format!("workspace/many/f{number:04}"), "needle\n");
    }
    let results = observed(
        &world,
        "anthropic",
        [
            reply::call("LS", json!({"path": "many"})),
            reply::call("Glob", json!({"pattern": "many/*"})),
            reply::call("Grep", json!({"pattern": "needle"})),
        ],
    );
    for (result, (name, length)) in results.iter().zip([("entries", 1000), ("paths", 1000), ("matches", 250)]) {
        assert_eq!(result["status"], "partial", "{result:#}");
        assert_eq!(result["data"][name].as_array().unwrap().len(), length);
    }
}

#[test]
fn p_15_each_path_error_has_its_code_in_every_tool() {
    let world = World::new();
    world.write("secret", "SECRET");
    fs::write(world.path("workspace/bytes"), b"a\0b").unwrap();
    symlink(world.path("secret"), world.path("workspace/escape")).unwrap();
    symlink(world.path("."), world.path("workspace/up")).unwrap();
    let absolute = world.path("secret").display().to_string();
    let outside = ["../secret", "src/../../secret", "escape", "up/secret", &absolute, "/etc/passwd"];
    let codes = outside.into_iter().map(|path| (path, "ACCESS_DENIED")).chain([("nowhere", "NOT_FOUND")]);
    let tools = |path: &str| {
        [
            read(path),
            reply::call("LS", json!({"path": path})),
            reply::call("Glob", json!({"pattern": "*", "path": path})),
            reply::call("Grep", json!({"pattern": "S", "path": path})),
        ]
    };
    for (path, code) in codes {
        for result in observed(&world, "anthropic", tools(path)) {
            assert_eq!(result["error"]["code"], code, "{path}: {result:#}");
            assert!(!result.to_string().contains("SECRET"), "{path}: {result:#}");
        }
    }
    let by_kind = [
        (read("src"), "IS_DIRECTORY"),
        (read("bytes"), "BINARY_FILE"),
        (reply::call("Grep", json!({"pattern": "a", "path": "bytes"})), "BINARY_FILE"),
    ];
    let results = observed(&world, "openai-chat", by_kind.clone().map(|(call, _)| call));
    for ((_, code), result) in by_kind.iter().zip(results) {
        assert_eq!(result["error"]["code"], *code, "{result:#}");
    }
}

#[test]
fn p_08_p_15_every_other_tool_error_has_a_code_too() {
    let world = World::new();
    std::process::Command::new("mkfifo").arg(world.path("workspace/pipe")).status().unwrap();
    let cases = [
        (reply::raw_call("Read", "{\"file_path\":"), "INVALID_PARAM"),
        (reply::call("Read", json!({})), "INVALID_PARAM"),
        (reply::call("LS", json!({"path": "src/main.rs"})), "INVALID_PARAM"),
        (reply::call("Glob", json!({"pattern": ""})), "INVALID_PARAM"),
        (reply::call("Grep", json!({"pattern": "("})), "INVALID_PARAM"),
        (reply::call("TodoWrite", json!({"todos": [{"content": "", "status": "pending"}]})), "INVALID_PARAM"),
        (reply::call("Bash", json!({"command": "ls"})), "PERMISSION_DENIED"),
        (reply::call("Foo", json!({})), "NOT_FOUND"),
        (read("pipe"), "EXECUTION_ERROR"),
    ];
    for wire in WIRES {
        let results = observed(&world, wire, cases.clone().map(|(call, _)| call));
        for ((call, code), result) in cases.iter().zip(results) {
            assert_eq!(result["error"]["code"], *code, "{call:?}: {result:#}");
        }
    }
}

#[test]
fn k03_s0_53_s0_54_s0_55_s0_70_p_15_a_sub_agent_that_forces_every_way_out_is_refused_in_the_protocol() {
    let world = World::new();
    world.write("secret", "SECRET");
    symlink(world.path("secret"), world.path("workspace/escape")).unwrap();
    let target = json!({"file_path": "../secret", "content": "gone", "old_string": "mod", "new_string": "x",
        "command": "rm -rf .", "edits": [], "description": "d", "prompt": "GRANDCHILD", "subagent_type": "general"});
    let names = ["Task", "Write", "Edit", "MultiEdit", "Bash", "task", "TASK", "write", "EDIT", "multiedit", "bash"];
    let forbidden = names.map(|name| (reply::call(name, target.clone()), "PERMISSION_DENIED"));
    let escapes = ["../secret", "escape", "/etc/passwd"].map(|path| (read(path), "ACCESS_DENIED"));
    let cases: Vec<(ScriptedPart, &str)> = forbidden.into_iter().chain(escapes).collect();
    for wire in WIRES {
        let script = delegating(arguments("general"))
            .on(when::turn(0), reply::calls(cases.iter().map(|(call, _)| call.clone())))
            .otherwise(reply::text("FINAL"));
        let run = run(&world, wire, script);
        let results = run.sub_agents()[1].results.clone();
        assert_eq!(results.len(), cases.len());
        for ((call, code), result) in cases.iter().zip(&results) {
            let object = conforming(result.json());
            assert_eq!(object["error"]["code"], *code, "{call:?}: {object:#}");
            assert_eq!(result.is_error, wire == "anthropic", "marked as failed where the wire has a mark");
        }
        assert!(!run.sub_agents().iter().any(|heard| heard.prompt == "GRANDCHILD"));
        assert_eq!(fs::read_to_string(world.path("secret")).unwrap(), "SECRET");
        assert_eq!(answer(&run)["data"]["tool_summary"], json!([{"tool": "Read", "count": 3}]), "refused: not counted");
    }
}
