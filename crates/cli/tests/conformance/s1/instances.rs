//! Every call has its own instance on its own model, and leaves nothing behind.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::{REVIEWER, agent_with, arguments, result, task, with_agents};
use crate::program::wait_for;
use crate::session::Session;
use crate::world::{DONE, QUESTION, Run, WIRES, main_agent_calls};

#[test]
fn s1_24_two_calls_for_one_agent_are_two_instances_that_share_nothing() {
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls([task(REVIEWER, "FIRST brief")]))
        .on(when::prompt_contains(QUESTION).turn(1), reply::calls([task(REVIEWER, "SECOND brief")]))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .on(when::prompt_contains("FIRST"), reply::text("FIRST report"))
        .otherwise(reply::text("SECOND report"));
    let world = with_agents();
    let run = Run::with(&world, "result", "anthropic", script, &["--output-format", "json"]);
    let outcome = run.ended.stdout_json();
    let children = outcome["children"].as_array().unwrap();
    let ids: BTreeSet<&str> = children.iter().map(|child| child["task_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{outcome:#}");
    let second = &run.sub_agent("SECOND brief")[0];
    assert_eq!(second.messages, 1);
    assert!(!second.contains("FIRST"));
    assert!(run.results()[1].text.contains("SECOND report"));
}

#[test]
fn s1_25_the_agents_own_model_does_the_work() {
    for wire in WIRES {
        let world = with_agents();
        world.config("[aliases]\nswift = \"swift-model-3\"\n");
        agent_with(&world, "quick", "description: Quick\nmodel: swift");
        agent_with(&world, "same", "description: Same\nmodel: inherit");
        let calls = [task("quick", "QUICK work"), task("same", "SAME work")];
        let run = Run::of(&world, "result", wire, main_agent_calls(calls).otherwise(reply::text("Done.")));
        assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
        assert_eq!(run.sub_agent("QUICK")[0].model, "swift-model-3");
        assert_eq!(run.sub_agent("SAME")[0].model, "test-model");
        assert_eq!(run.main_agent()[1].model, "test-model");
    }
}

#[test]
fn s1_26_s1_38_an_ended_call_leaves_no_task_connection_or_file_behind() {
    const ROUNDS: u32 = 25;
    let mut script = Script::new();
    for round in 0..ROUNDS {
        let calls = [task(REVIEWER, "CHILD works"), task(REVIEWER, "CHILD fails")];
        script = script.on(when::prompt_contains(QUESTION).turn(round), reply::calls(calls));
    }
    let script = script
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .on(when::prompt_contains("CHILD fails"), reply::status(400))
        .otherwise(reply::text("Done."));
    let world = with_agents();
    let run = Run::of(&world, "result", "anthropic", script);
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    assert_eq!(run.results().len() as u32, 2 * ROUNDS);
    wait_for(&run.server, |traffic| traffic.open_connections == 0);
    assert!(run.server.traffic().connections <= 4, "connections are used again: {:?}", run.server.traffic());

    let listed = world.sortie(["tasks", "list", "--all", "--limit", "1000", "--json"]).run().stdout_json();
    let states: BTreeSet<&str> =
        listed.as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap()).collect();
    assert_eq!(listed.as_array().unwrap().len() as u32, 2 * ROUNDS + 1);
    assert_eq!(states, BTreeSet::from(["completed", "failed"]));
    let files = |at: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(world.path(at)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(files("workspace"), BTreeSet::from([".git", "src"].map(str::to_owned)));
    assert!(
        files("state").iter().all(|name| name.starts_with("journal.db") || name == "reports"),
        "{:?}",
        files("state")
    );
    assert_eq!(files("state/reports"), BTreeSet::new());
}

/// Resident memory of a process, in KiB, and its number of open files.
fn held(pid: u32) -> (u64, usize) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let memory = memory.trim().trim_end_matches(" kB").parse().unwrap();
    (memory, fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count())
}

#[test]
fn s1_26_s1_38_forty_more_calls_leave_the_process_as_large_as_before() {
    // A leak of each call's history would be twice the slack.
    const HISTORY: usize = 400 * 1024;
    const SLACK_KIB: u64 = 8192;
    let script = Script::always(reply::text("x".repeat(HISTORY)));
    let (world, server) = (with_agents(), ScriptedServer::start(script).unwrap());
    let serving = world.sortie(["mcp", "--contract", "result"]).on(&server, "anthropic");
    let mut session = Session::open(serving, &serde_json::json!({}));
    let mut call = |times: usize| {
        for _ in 0..times {
            let params = serde_json::json!({"name": "Task", "arguments": arguments(REVIEWER, "CHILD works")});
            let answer = session.ask("tools/call", params);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        held(session.child.id())
    };
    let (early, late) = (call(20), call(40));
    assert!(late.0 <= early.0 + SLACK_KIB && late.1 <= early.1 + 2, "KiB and files: {early:?}, then {late:?}");
    assert_eq!(session.close().0, 0);
}

/// Events of one delegated run.
fn events() -> Vec<Value> {
    let script = main_agent_calls([task(REVIEWER, "CHILD works")])
        .on(when::turn(0), reply::calls([reply::call("LS", serde_json::json!({}))]))
        .otherwise(reply::text("Done."));
    let run = Run::with(&with_agents(), "result", "anthropic", script, &["--output-format", "stream-json"]);
    assert_eq!(result_of(&run), "Done.");
    run.ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn result_of(run: &Run) -> Value {
    result(run)["content"].clone()
}

#[test]
fn s1_26_s1_27_the_steps_of_a_call_are_in_order_in_the_events() {
    let kinds: Vec<String> = events()
        .iter()
        .filter(|event| event["depth"] == 1)
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    let steps = [
        "task_started",
        "task_admitted",
        "model_called",
        "model_replied",
        "call_started",
        "call_finished",
        "model_called",
        "model_replied",
        "task_ended",
    ];
    assert_eq!(kinds, steps);
}
