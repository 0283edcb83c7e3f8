//! Calls without success are counted where programs and people look, at every entry, also after a restart.

use rustix::process::Signal;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::mcp::session::Session;
use crate::resume::send;
use crate::world::{World, wait_for};

/// Model that makes three calls that need approval, and then answers.
fn refused() -> ScriptedServer {
    let write = |name: &str| reply::call("Write", json!({"file_path": name, "content": "x"}));
    let bash = reply::call("Bash", json!({"command": "true"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([write("a.txt"), bash, write("b.txt")]))
        .otherwise(reply::text("I could not.").held_by("end"));
    ScriptedServer::start(script).unwrap()
}

fn assert_counted(outcome: &Value) {
    let refused = outcome["refused"].as_array().unwrap_or_else(|| panic!("{outcome}"));
    let counts: Vec<Value> = refused.iter().map(|one| json!([one["tool"], one["count"]])).collect();
    assert_eq!(counts, [json!(["Write", 2]), json!(["Bash", 1])]);
    let reason = refused[0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("nobody can be asked here"), "{reason}");
}

#[test]
fn a_run_counts_its_refused_calls_by_tool_with_the_reason() {
    let (world, server) = (World::new(), refused());
    server.gate("end").open();
    let json = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").run();
    assert_counted(&json.stdout_json());
    let text = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    let last = text.stderr.lines().last().unwrap_or_default();
    assert!(last.ends_with(" · 3 calls refused"), "{last}");
}

#[test]
fn refused_calls_are_still_counted_after_a_restart() {
    let (world, server) = (World::new(), refused());
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls == 2);
    send(&live, Signal::KILL);
    live.wait();
    server.gate("end").open();
    let ended = world.sortie(["resume", "--output-format", "json"]).on(&server, "anthropic").run();
    assert_counted(&ended.stdout_json());
}

/// Contracts with room for calls without success: the flags of a task, its arguments, and the place of these fields.
const WITH_ROOM: [(&str, &str, &str); 6] = [
    ("envelope", r#"{"description":"d","prompt":"QUESTION","subagent_type":"explore"}"#, "/data"),
    ("delegate", r#"{"task":"QUESTION"}"#, ""),
    ("typed", r#"{"description":"d","prompt":"QUESTION","subagent_type":"Explore"}"#, ""),
    ("child", r#"{"description":"d","prompt":"QUESTION","subagent_type":"explore"}"#, ""),
    ("child-recipe", r#"{"description":"d","prompt":"QUESTION","agentType":"explore"}"#, ""),
    ("sortie", r#"{"description":"d","prompt":"QUESTION","subagent_type":"explore"}"#, ""),
];

const NOTICE: &str = "none of its 3 tool calls succeeded: 2 failed, 1 refused";

/// Model that reads two files that do not exist, writes without permission, and then answers.
fn fruitless() -> ScriptedServer {
    let read = |name: &str| reply::call("Read", json!({"file_path": name}));
    let write = reply::call("Write", json!({"file_path": "a.txt", "content": "x"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([read("no-1.rs"), write, read("no-2.rs")]))
        .otherwise(reply::text("All of it is done."));
    ScriptedServer::start(script).unwrap()
}

/// Asserts what an answer of a contract says about the calls of [`fruitless`].
fn assert_told(contract: &str, place: &str, answer: &Value) {
    let object = answer.pointer(place).unwrap_or_else(|| panic!("{contract}: {answer}"));
    let count = |key: &str| json!([object[key][0]["tool"], object[key][0]["count"]]);
    assert_eq!((count("failed"), count("refused")), (json!(["Read", 2]), json!(["Write", 1])), "{contract}: {answer}");
    let reason = object["failed"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("does not exist"), "{contract}: {answer}");
    let notice = if contract == "sortie" { &object["notices"][0] } else { &object["notice"] };
    assert_eq!(notice, NOTICE, "{contract}: {answer}");
}

#[test]
fn a_run_without_one_successful_call_does_not_stand_as_completed_alone() {
    let (world, server) = (World::new(), fruitless());
    let json = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").run();
    let outcome = json.stdout_json();
    assert_eq!((json.code, &outcome["status"], &outcome["usage"]["failed_calls"]), (0, &json!("completed"), &json!(2)));
    assert_told("sortie", "", &outcome);
    let text = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    assert!(text.stderr.contains(NOTICE), "{text:#?}");
    let last = text.stderr.lines().last().unwrap_or_default();
    assert!(last.contains(" · 2 calls (2 failed) · ") && last.ends_with(" · 1 call refused"), "{last}");
}

#[test]
fn a_task_without_one_successful_call_says_so_in_every_contract_with_room_for_it() {
    let (world, server) = (World::new(), fruitless());
    for (contract, arguments, place) in WITH_ROOM {
        let task = world.sortie(["task", "--contract", contract, "--json", arguments]).on(&server, "anthropic").run();
        assert_told(contract, place, &task.stdout_json());
    }
}

#[test]
fn a_host_learns_it_too_and_finds_the_fields_in_the_published_schema() {
    let (world, server) = (World::new(), fruitless());
    for (contract, arguments, place) in WITH_ROOM {
        let invocation = world.sortie(["mcp", "--contract", contract]).on(&server, "anthropic");
        let mut session = Session::open(invocation, &json!({}));
        let listed = session.ask("tools/list", json!({}));
        let tool = &listed["result"]["tools"][0];
        let properties = format!("/outputSchema/properties{}", if place.is_empty() { "" } else { "/data/properties" });
        for field in ["failed", "refused"] {
            let schema = &tool.pointer(&properties).unwrap()[field];
            assert_eq!(schema["items"]["required"], json!(["tool", "count", "reason"]), "{contract}: {tool}");
        }
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let answer = session.ask("tools/call", json!({"name": tool["name"], "arguments": arguments}));
        assert_told(contract, place, &answer["result"]["structuredContent"]);
        assert_eq!(session.close().0, 0);
    }
}
