//! Keys in the JSON formats: exactly those that `docs/output.md` lists.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sortie_contract::outcome_object;
use sortie_protocol::{
    FailedCalls, Failure, FailureCode, Limit, ModelChoice, Money, Status, TaskId, TaskOutcome, ToolCount, Truncation,
    Usage,
};
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::run::delegating;
use crate::world::World;

const PAGE: &str = include_str!("../../../../docs/output.md");

/// Keys in the table below a heading of the page.
fn documented(heading: &str) -> BTreeSet<String> {
    let (_, section) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let key = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    section.lines().filter_map(key).collect()
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

fn set(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|&key| key.to_owned()).collect()
}

/// Outcome in which every field has a value. A new field must be added here, and on the page if programs see it.
fn full() -> TaskOutcome {
    let mut error = Failure::new(FailureCode::Internal, "x");
    error.details.push("x".to_owned());
    TaskOutcome {
        task_id: TaskId::from_random([0; 12]),
        agent: "main".to_owned(),
        status: Status::Partial,
        reason: Some(Limit::Deadline),
        text: "x".to_owned(),
        structured: Some(json!(1)),
        files_changed: vec!["a".to_owned()],
        tool_summary: vec![ToolCount { tool: "Read".to_owned(), count: 1 }],
        failed: vec![FailedCalls { tool: "Read".to_owned(), count: 1, reason: "x".to_owned() }],
        refused: vec![FailedCalls { tool: "Bash".to_owned(), count: 1, reason: "x".to_owned() }],
        model: ModelChoice { route: "main".to_owned(), id: "m".to_owned() },
        usage: Usage {
            input_tokens: 2,
            cost: Money::from_nanos(1),
            priced_tokens: 1,
            failed_calls: 1,
            ..Usage::default()
        },
        truncated: true,
        full_text_path: Some("/x".to_owned()),
        truncation: Some(Truncation { original_lines: 2, original_bytes: 2, kept_lines: 1, kept_bytes: 1 }),
        deadline_ms: Some(1),
        notices: vec!["x".to_owned()],
        error: Some(error),
        given_again: Some("x".to_owned()),
    }
}

#[test]
fn every_key_of_an_outcome_is_documented_and_every_documented_key_exists() {
    let mut object = outcome_object(&full());
    object["children"] = json!([]);
    assert_eq!(keys(&object), documented("Outcome"));
    assert_eq!(keys(&object["usage"]), documented("Usage"));
    assert_eq!(keys(&object["model"]), set(&["route", "id"]));
    assert_eq!(keys(&object["error"]), set(&["code", "message"]));
    assert_eq!(keys(&object["tool_summary"][0]), set(&["tool", "count"]));
    assert_eq!(keys(&object["refused"][0]), set(&["tool", "count", "reason"]));
}

/// Checks an outcome and those below it.
fn check(outcome: &Value, known: &BTreeSet<String>) {
    let undocumented: Vec<String> = keys(outcome).difference(known).cloned().collect();
    assert_eq!(undocumented, Vec::<String>::new(), "{outcome}");
    assert!(outcome["error"].is_null() || keys(&outcome["error"]) == set(&["code", "message"]), "{outcome}");
    outcome["children"].as_array().unwrap().iter().for_each(|child| check(child, &documented("Outcome")));
}

#[test]
fn no_run_prints_a_key_that_is_not_documented() {
    let all = documented("Outcome");
    let line = all.union(&documented("Lines")).cloned().collect();
    let scripts = || {
        [
            (delegating(), &[][..]),
            (Script::always(reply::status(400)), &[]),
            (Script::always(reply::never()), &["--timeout", "50ms"]),
            (
                Script::always(reply::text("x").usage(Usage { input_tokens: 5, ..Usage::default() })),
                &["--max-turns", "1"],
            ),
        ]
    };
    for (format, known) in [("json", &all), ("stream-json", &line)] {
        for (script, more) in scripts() {
            let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
            let ended = world
                .sortie(["run", "--output-format", format, "QUESTION"].iter().chain(more))
                .on(&server, "anthropic")
                .run();
            let last = ended.stdout.lines().last().unwrap_or_else(|| panic!("{ended:#?}"));
            check(&serde_json::from_str(last).unwrap(), known);
        }
        // Nothing starts here.
        let ended = World::new().sortie(["resume", "abc", "--output-format", format]).run();
        let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
        check(&outcome, known);
        assert_eq!((ended.code, &outcome["error"]["code"]), (1, &json!("no_such_task")));
    }
}

#[test]
fn every_line_of_a_stream_has_the_documented_keys() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let ended = world.sortie(["run", "--output-format", "stream-json", "QUESTION"]).on(&server, "anthropic").run();
    for line in ended.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let missing: Vec<String> = documented("Lines").difference(&keys(&line)).cloned().collect();
        let is_root = line["depth"] == 0;
        assert_eq!(missing, if is_root { vec!["parent_id".to_owned()] } else { Vec::new() }, "{line}");
    }
}
