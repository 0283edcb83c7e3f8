//! `json` and `stream-json`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::Value;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::run::{WIRES, delegating};
use crate::world::World;

#[test]
fn json_is_the_outcome_with_its_childrens() {
    for wire in WIRES {
        let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
        let ended = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, wire).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let outcome = ended.stdout_json();
        assert_eq!(outcome["status"], "completed");
        assert_eq!(outcome["agent"], "main");
        assert_eq!(outcome["text"], "Errors are made in `src/auth.rs:2`.");
        assert_eq!(outcome["model"], serde_json::json!({"route": "main", "id": "test-model"}));
        assert_eq!(outcome["usage"]["tool_calls"], 4, "two delegations and what the children did");
        let children = outcome["children"].as_array().unwrap();
        let mut texts: Vec<&str> = children.iter().map(|child| child["text"].as_str().unwrap()).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["src/auth.rs:2 returns AuthError", "src/main.rs:3 is the start"]);
        assert!(children.iter().all(|child| child["children"] == serde_json::json!([])));
    }
}

#[test]
fn stream_json_is_every_event_and_then_the_outcome() {
    for wire in WIRES {
        let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
        let ended = world.sortie(["run", "--output-format", "stream-json", "QUESTION"]).on(&server, wire).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut last_seq: BTreeMap<&str, u64> = BTreeMap::new();
        for line in &lines {
            assert_eq!(line["v"], 1);
            assert!(line["time"].as_str().unwrap().ends_with('Z'));
            let seq = last_seq.entry(line["task_id"].as_str().unwrap()).or_default();
            if line["type"] == "outcome" {
                assert_eq!(line["seq"], *seq, "of the event that it repeats: {line}");
                continue;
            }
            assert_eq!(line["seq"], *seq + 1, "numbered without gaps within each task: {line}");
            *seq += 1;
            let depth = u64::from(line["parent_id"].is_string());
            assert_eq!(line["depth"], depth);
        }
        assert_eq!(last_seq.len(), 3, "the main agent and its two children");
        let count = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        assert_eq!(
            [count("task_started"), count("task_ended"), count("child_started"), count("outcome")],
            [3, 3, 2, 1]
        );
        let outcome = lines.last().unwrap();
        assert_eq!(outcome["type"], "outcome");
        assert_eq!(outcome["task_id"], lines[0]["task_id"]);
        assert_eq!(outcome["status"], "completed");
        assert_eq!(outcome["children"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn stream_json_lines_come_as_they_happen() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("late").held_by("answer"))).unwrap();
    let mut command =
        world.sortie(["run", "--output-format", "stream-json", "x"]).on(&server, "anthropic").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"model_called\"") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the call is told before its answer");
    }
    server.gate("answer").open();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(rest.lines().last().unwrap().contains("\"type\":\"outcome\""), "{rest}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn failures_are_outcomes_too() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::status(400))).unwrap();
    for format in ["json", "stream-json"] {
        let ended = world.sortie(["run", "--output-format", format, "x"]).on(&server, "anthropic").run();
        assert_eq!(ended.code, 1);
        let outcome: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(outcome["status"], "failed");
        assert_eq!(outcome["error"]["code"], "model_bad_request");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_panic() {
    let world = World::new();
    let script = Script::new()
        .on(when::any().turn(0), reply::calls([reply::call("LS", serde_json::json!({}))]).held_by("go"))
        .otherwise(reply::never());
    let server = ScriptedServer::start(script).unwrap();
    let mut command =
        world.sortie(["run", "--output-format", "stream-json", "x"]).on(&server, "anthropic").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    server.gate("go").open();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(1), ""), "cancelled, and nothing to say");
}

#[test]
fn a_list_whose_reader_goes_away_is_not_an_error() {
    let world = World::new();
    let mut child =
        world.sortie(["schema"]).into_command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}
