//! Cost of a delegation, in every contract that shows it. It covers all turns, all descendants, and every attempt that
//! broke off, as far as its provider reported usage.

use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Fault, Script, ScriptedReply, ScriptedServer, reply, when};

use crate::world::{Run, World, main_agent_calls};

/// Contracts that show tokens: their arguments, and the path of the figure.
const SHOWING: [(&str, &str, &str); 4] = [
    ("delegate", r#"{"task": "CHILD looks"}"#, "/tokens_used"),
    ("child", r#"{"description": "Look", "prompt": "CHILD looks"}"#, "/tokensUsed"),
    ("child-recipe", r#"{"description": "Look", "prompt": "CHILD looks"}"#, "/tokens"),
    ("sortie", r#"{"description": "Look", "prompt": "CHILD looks"}"#, "/usage/total_tokens"),
];

const QUICK: [&str; 2] = ["--set", "llm.retry_base_ms=1"];

fn spending(reply: ScriptedReply, input_tokens: u64, output_tokens: u64) -> ScriptedReply {
    reply.usage(Usage { input_tokens, output_tokens, ..Usage::default() })
}

/// Reply that breaks off in the middle. The anthropic wire has reported 1,000 tokens of input and 1 of output by then,
/// and never reports the rest.
fn breaking() -> ScriptedReply {
    spending(reply::text("Half of this. And the rest.").fault(Fault::OverloadedMidStream), 1000, 500)
}

const BROKEN: u64 = 1001;

fn look() -> ScriptedReply {
    reply::calls([reply::call("LS", json!({}))])
}

/// Answer of `sortie task`, and its number of requests.
fn answer(contract: &str, arguments: &str, script: Script, flags: &[&str]) -> (Value, usize) {
    let server = ScriptedServer::start(script).unwrap();
    let args = [&["task", "--contract", contract, "--json", arguments], &QUICK[..], flags].concat();
    let answer = World::new().sortie(args).on(&server, "anthropic").run().stdout_json();
    (answer, server.requests().len())
}

fn tokens(answer: &Value, place: &str) -> u64 {
    answer.pointer(place).and_then(Value::as_u64).unwrap_or_else(|| panic!("{place} in {answer}"))
}

#[test]
fn s2_22_s4_15_s4_17_s4_27_retried_requests_are_charged_and_counted_once() {
    for (contract, arguments, place) in SHOWING {
        let script = Script::new()
            .times(2, when::turn(0), breaking())
            .on(when::turn(0), spending(look(), 1000, 10))
            .once(when::turn(1), spending(reply::status(500), 7000, 7000))
            .on(when::turn(1), spending(reply::text("Done."), 1300, 3));
        let (answer, requests) = answer(contract, arguments, script, &[]);
        assert_eq!(tokens(&answer, place), 2 * BROKEN + 1010 + 1303, "{contract}: a refused request costs nothing");
        assert_eq!(requests, 5, "{contract}");
        let calls = answer.get("toolCalls").or_else(|| answer.pointer("/usage/tool_calls"));
        assert!(calls.is_none_or(|calls| calls == 1), "{contract}: {answer}");
        assert!(answer.pointer("/usage/turns").is_none_or(|turns| turns == 2), "tries are no turns: {answer}");
    }
}

#[test]
fn s2_22_s4_15_s4_17_s4_27_a_failed_task_reports_the_cost_of_its_attempts() {
    for (contract, arguments, place) in SHOWING {
        let (answer, requests) =
            answer(contract, arguments, Script::always(breaking()), &["--set", "llm.max_retries=2"]);
        assert_eq!((tokens(&answer, place), requests), (3 * BROKEN, 3), "{contract}: {answer}");
        assert!(answer.get("error").is_some(), "{contract}: {answer}");
    }
}

#[test]
fn s2_22_s4_15_s4_17_s4_27_a_deadline_during_an_attempt_does_not_hide_its_cost() {
    for (contract, arguments, place) in SHOWING {
        let stalling = spending(reply::text("Half of this.".repeat(100)).fault(Fault::StallAfter(1200)), 1000, 500);
        let script = Script::new().once(when::any(), breaking()).otherwise(stalling);
        let (answer, requests) = answer(contract, arguments, script, &["--set", "task_tool.default_timeout_seconds=1"]);
        assert_eq!((tokens(&answer, place), requests), (2 * BROKEN, 2), "{contract}: {answer}");
    }
}

#[test]
fn s2_22_s2_50_s2_67_broken_attempts_count_against_the_token_limit() {
    for (contract, arguments, place) in SHOWING {
        let limit = ["--set", "task_tool.max_tokens=7000"];
        let (answer, requests) = answer(contract, arguments, Script::always(breaking()), &limit);
        assert!((2..=10).contains(&requests), "{contract}: {requests} requests: {answer}");
        assert!(tokens(&answer, place) >= requests as u64 * BROKEN, "{contract}: {answer}");
        let is_told = answer["reason"] == "tokens" || answer.to_string().contains("limit was reached");
        assert!(is_told, "{contract}: {answer}");
    }
}

#[test]
fn s2_22_s2_57_s2_73_the_log_agrees_with_the_display() {
    let world = World::new();
    let task = |brief: &str| reply::call("task", json!({ "task": brief }));
    let script = main_agent_calls([task("OUTER work")])
        .on(when::prompt_contains("OUTER").turn(0), spending(reply::calls([task("INNER work")]), 400, 40))
        .on(when::prompt_contains("OUTER"), spending(reply::text("Outer done."), 500, 50))
        .once(when::prompt_contains("INNER"), breaking())
        .on(when::prompt_contains("INNER"), spending(reply::text("Inner done."), 600, 6));
    let flags = [&QUICK[..], &["--output-format", "stream-json"]].concat();
    let run = Run::with(&world, "delegate", "anthropic", script, &flags);
    let (inner, outer) = (BROKEN + 606, BROKEN + 606 + 440 + 550);
    assert_eq!(run.sub_agent("OUTER")[1].results[0].json()["tokens_used"], inner);
    assert_eq!(run.result().json()["tokens_used"], outer);

    let told: Vec<Value> = run.ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let spent = |event: &Value| match event["type"].as_str() {
        Some("model_retried") => event["usage"]["total_tokens"].as_u64().unwrap_or_default(),
        Some("model_replied") => event["reply"]["usage"]["total_tokens"].as_u64().unwrap(),
        _ => 0,
    };
    let below = told.iter().filter(|event| event["depth"] != 0);
    assert_eq!(below.map(spent).sum::<u64>(), outer, "the events add up to it");
    let everything: u64 = told.iter().map(spent).sum();
    assert_eq!(told.last().unwrap().pointer("/usage/total_tokens"), Some(&json!(everything)));

    let kept = world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json();
    for (title, tokens) in [("OUTER work", outer), ("INNER work", inner)] {
        let task = kept.as_array().unwrap().iter().find(|task| task["title"] == title).unwrap();
        let shown = world.sortie(["tasks", "show", task["task_id"].as_str().unwrap(), "--json"]).run().stdout_json();
        assert_eq!(shown["usage"]["total_tokens"], tokens, "{title} in the log");
    }
}
