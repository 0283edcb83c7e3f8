//! Replies of the scripted server to all agents of a soak: few rules for many agents, each with a name of its own.
//!
//! By agreement with the checker, the id of a call is in everything that the call leaves behind. No two calls have the
//! same id. `<me>` is the name of the asking agent, with which its prompt begins, and `<turn>` the number of its
//! answers so far.

use serde_json::{Value, json};

use crate::crash::random::Random;

/// Prompt of the main agent that lives from the beginning to the end.
pub(super) const HOST: &str = "host keeps the house open.";

/// Different leads, and different workers.
const KINDS: u64 = 24;
/// The first of those leads that have no leads below them.
const INNER: u64 = KINDS / 2;
/// Words in the answer to a call whose sub-agent runs in the background.
const LAUNCHED: &str = "running in the background";
/// Words in mail that contains a question.
const ASKED: &str = "It waits for your answer";

/// Delay before the host starts other agents, and about the delay until it does so again. Its conversation and its
/// memory grow by each round, so there are not too many of them.
const HOST_DELAY_MS: u64 = 8000;
const HOST_ROUND_MS: u64 = 10_000;

/// Limits of an agent's turns.
#[derive(Clone, Copy)]
struct Pace {
    max_turns: u64,
    max_delay_ms: u64,
}

const LEAD: Pace = Pace { max_turns: 6, max_delay_ms: 800 };
const WORKER: Pace = Pace { max_turns: 3, max_delay_ms: 600 };

/// Prompt of a lead, unique to it and fitting its kind.
pub(super) fn lead(name: &str, random: &mut Random) -> String {
    prompt(name, "leads", random.below(KINDS))
}

fn prompt(name: &str, trade: &str, kind: u64) -> String {
    format!("{name} {trade}, kind {kind:02}.")
}

/// The whole script for about so many minutes.
pub(super) fn rules(seed: u64, minutes: u64) -> Value {
    let mut random = Random::new(seed, 0);
    let mut rules = host(&mut random, minutes * 60_000 / HOST_ROUND_MS);
    let answer = call("SendMessage", &json!({ "to": "<last task>", "message": "Left." }), 0);
    rules.push(json!({
        "when": { "prompt_contains": " leads, kind ", "last_contains": ASKED },
        "reply": { "parts": [answer] },
    }));
    for kind in 0..KINDS {
        rules.extend(turns(&prompt("", "leads", kind), LEAD, &mut random, |random| lead_call(random, kind)));
        rules.extend(turns(&prompt("", "works", kind), WORKER, &mut random, worker_call));
    }
    rules.push(json!({ "reply": { "parts": [{ "text": "This is the report of <me>, turn <turn>." }] } }));
    json!({ "rules": rules })
}

/// The host keeps a sub-agent in the background at work until its rounds are over. It waits until one of the
/// sub-agents that it started last has reported.
fn host(random: &mut Random, n_rounds: u64) -> Vec<Value> {
    let waits = json!({ "prompt_contains": HOST, "last_contains": LAUNCHED });
    let mut rules = vec![json!({ "when": waits, "reply": { "parts": [{ "text": "I wait, turn <turn>." }] } })];
    // A turn in which it waits lies between two in which it starts others.
    for turn in 0..2 * n_rounds {
        let n_leads = 1 + random.below(2);
        let mut parts: Vec<Value> =
            (0..n_leads).map(|index| delegate(&lead(&format!("h{turn}-{index}"), random), true, index)).collect();
        if random.one_in(3) {
            parts.push(delegate(&lead(&format!("h{turn}-{n_leads}"), random), false, n_leads));
        }
        rules.push(rule(HOST, turn, HOST_DELAY_MS, &parts));
    }
    rules
}

/// A few turns of a few calls.
fn turns(
    prompt: &str,
    pace: Pace,
    random: &mut Random,
    one: impl Fn(&mut Random) -> (&'static str, Value),
) -> Vec<Value> {
    (0..=random.below(pace.max_turns))
        .map(|turn| {
            let calls = 0..=random.below(3);
            let parts: Vec<Value> = calls
                .map(|index| {
                    let (tool, arguments) = one(random);
                    call(tool, &arguments, index)
                })
                .collect();
            rule(prompt, turn, random.below(pace.max_delay_ms), &parts)
        })
        .collect()
}

fn lead_call(random: &mut Random, kind: u64) -> (&'static str, Value) {
    let name = "<id>";
    match random.below(10) {
        0..=2 => ("Task", brief(&prompt(name, "works", random.below(KINDS)), false)),
        3..=5 => ("Task", brief(&prompt(name, "works", random.below(KINDS)), true)),
        6 if kind < INNER => {
            ("Task", brief(&prompt(name, "leads", INNER + random.below(KINDS - INNER)), random.one_in(2)))
        }
        7 => ("TaskOutput", json!({ "task_id": "<last task>", "timeout": 500 })),
        8 => ("SendMessage", json!({ "to": "<last task>", "message": "Go on, says <me>." })),
        9 => ("TaskList", json!({})),
        _ => own_call(random),
    }
}

fn worker_call(random: &mut Random) -> (&'static str, Value) {
    match random.below(5) {
        0 => ("Ask", json!({ "question": "Left or right, asks <me>?", "timeout_seconds": 2 })),
        1 => ("SendMessage", json!({ "to": "parent", "message": "All is well, says <me>." })),
        _ => own_call(random),
    }
}

/// A call that needs no other agent.
fn own_call(random: &mut Random) -> (&'static str, Value) {
    match random.below(8) {
        0 => ("Read", json!({ "file_path": "notes/common.txt" })),
        1 => ("Grep", json!({ "pattern": "common", "path": "notes" })),
        2 | 3 => ("Bash", json!({ "command": "echo <id> >> effects.log" })),
        4 => ("Bash", json!({ "command": "sleep 0.2; echo <id> >> effects.log" })),
        5 => ("Bash", json!({ "command": "echo <id> >> effects.log; sleep 300", "run_in_background": true })),
        6 => ("Write", json!({ "file_path": "made/<id>.txt", "content": "made by <id>\n" })),
        _ => ("Note", json!({ "text": "<id> was here." })),
    }
}

fn delegate(prompt: &str, background: bool, index: u64) -> Value {
    call("Task", &brief(prompt, background), index)
}

fn brief(prompt: &str, background: bool) -> Value {
    json!({ "description": "Do a part", "prompt": prompt, "run_in_background": background })
}

/// The call in this place of a reply. Its arguments may have its id in them.
fn call(tool: &str, arguments: &Value, index: u64) -> Value {
    let id = format!("<me>-<turn>{}", ["a", "b", "c", "d"][index as usize % 4]);
    json!({ "raw_call": { "tool": tool, "arguments": arguments.to_string().replace("<id>", &id), "id": id } })
}

fn rule(prompt: &str, turn: u64, delay_ms: u64, parts: &[Value]) -> Value {
    json!({ "when": { "prompt_contains": prompt, "turn": turn }, "reply": { "delay_ms": delay_ms, "parts": parts } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_it_all() {
        assert_eq!(rules(1, 2), rules(1, 2));
        assert_ne!(rules(1, 2), rules(2, 2));
    }

    #[test]
    fn the_host_starts_a_background_task_in_every_round() {
        let rules = rules(1, 2);
        let rules = rules["rules"].as_array().unwrap();
        let rounds: Vec<&Value> = rules
            .iter()
            .filter(|rule| rule["when"]["prompt_contains"] == HOST && rule["when"]["turn"].is_u64())
            .collect();
        assert_eq!(rounds.len() as u64, 2 * 2 * 60_000 / HOST_ROUND_MS);
        for round in rounds {
            assert!(round["reply"].to_string().contains(r#"run_in_background\":true"#), "{round}");
        }
    }
}
