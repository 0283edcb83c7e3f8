//! Records of every delegation, and messages while it runs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::{CONTRACT, task};
use crate::world::{QUESTION, Run, World, main_agent_calls};

fn spending(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

/// All recorded tasks, by the first word of their titles.
fn kept(world: &World, word: &str) -> Value {
    let list = world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json();
    let has_word = |task: &&Value| task["title"].as_str().unwrap().starts_with(word);
    list.as_array().unwrap().iter().find(has_word).unwrap_or_else(|| panic!("{word}: {list}")).clone()
}

#[test]
fn s2_24_s2_26_s2_36_s2_37_s2_55_s2_56_s2_57_every_delegation_can_be_looked_up() {
    let world = World::new();
    let good = reply::call("task", json!({"task": "GOOD work on the parser", "model": "small-model"}));
    let script = main_agent_calls([good, task("BAD work")])
        .on(when::prompt_contains("GOOD"), reply::text("Done below.").usage(spending(400, 56)))
        .otherwise(reply::status(400));
    Run::of(&world, CONTRACT, "anthropic", script);

    let (root, good, bad) = (kept(&world, "QUESTION"), kept(&world, "GOOD"), kept(&world, "BAD"));
    for child in [&good, &bad] {
        assert_eq!((&child["parent_id"], &child["depth"]), (&root["task_id"], &json!(1)));
        assert_eq!(child["agent"], "general-purpose", "a session with the configuration of its task");
    }
    assert_eq!((&good["status"], &bad["status"]), (&json!("completed"), &json!("failed")));
    assert_eq!(good["title"], "GOOD work on the parser");
    let shown = |task: &Value| {
        let id = task["task_id"].as_str().unwrap();
        (world.sortie(["tasks", "show", id]).run().stdout, world.sortie(["tasks", "show", id, "--json"]).run())
    };
    let (text, object) = shown(&good);
    assert!(text.contains("GOOD work on the parser") && text.contains("main (small-model)"), "{text}");
    let object = object.stdout_json();
    assert_eq!((&object["usage"]["total_tokens"], &object["model"]["id"]), (&json!(456), &json!("small-model")));
    let (text, object) = shown(&bad);
    assert!(text.contains("model_bad_request: ") && object.stdout_json()["status"] == "failed", "{text}");
}

/// Events of a run, as programs get them.
fn events(script: Script, flags: &[&str]) -> Vec<Value> {
    let flags = [&["--output-format", "stream-json"], flags].concat();
    let run = Run::with(&World::new(), CONTRACT, "anthropic", script, &flags);
    run.ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Position of the first event of this kind and depth.
fn place(events: &[Value], kind: &str, depth: u32) -> Option<usize> {
    events.iter().position(|event| event["type"] == kind && event["depth"] == depth)
}

#[test]
fn s2_47_a_call_is_parsed_checked_created_executed_and_formatted_in_this_order() {
    let work = main_agent_calls([task("CHILD work")]).otherwise(reply::text("Done below."));
    let told = events(work.clone(), &[]);
    let steps =
        [("call_started", 0), ("task_started", 1), ("model_called", 1), ("task_ended", 1), ("call_finished", 0)];
    let places: Vec<usize> = steps.iter().map(|(kind, depth)| place(&told, kind, *depth).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let last = told[places[4]].to_string();
    assert!(last.contains(r#"\"success\":true"#), "formatted: {last}");

    let malformed = main_agent_calls([reply::call("task", json!({"tusk": "x"}))]);
    let too_deep = ["--set", "task_tool.max_depth=0"];
    let both = Run::with(&World::new(), CONTRACT, "anthropic", malformed.clone(), &too_deep);
    assert!(both.result().text.starts_with("invalid input: "), "parsed before the depth is checked");
    for refused in [events(malformed, &[]), events(work, &too_deep)] {
        assert_eq!(place(&refused, "task_started", 1), None, "refused before anything is created");
        assert!(place(&refused, "call_finished", 0).is_some());
    }
}

#[test]
fn s2_85_progress_is_reported_while_a_sub_agent_works() {
    let world = World::new();
    let script = main_agent_calls([task("CHILD work")])
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::text("Done below.").held_by("end"));
    let server = ScriptedServer::start(script).unwrap();
    let args = ["run", "--contract", CONTRACT, "--output-format", "stream-json", QUESTION];
    let mut command = world.sortie(args).on(&server, "anthropic").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (mut line, mut told) = (String::new(), json!({}));
    while told["type"] != "call_finished" || told["depth"] != 1 {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "its call is told before its end");
        told = serde_json::from_str(&line).unwrap();
    }
    server.gate("end").open();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"task_ended\""), "{rest}");
    assert!(child.wait().unwrap().success());
}
