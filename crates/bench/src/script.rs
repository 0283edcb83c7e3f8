//! Replies of the scripted server: three reads, done by the main agent or by children.

use serde_json::{Value, json};

/// The files that are read, one a turn.
pub(super) const FILES: [&str; 3] = ["accounts.txt", "billing.txt", "sessions.txt"];

/// Prompts of the main agent.
pub(super) const INLINE: &str = "Read the three files yourself.";
pub(super) const DELEGATED: &str = "Have the three files read.";

pub(super) const LONG: &str = "Read the first file, again and again.";

/// Prompts of a main agent that waits for background sub-agents, and of one whose sub-agent waits.
pub(super) const WAKEFUL: &str = "Start one after the other, and wait for each.";
pub(super) const RELAYED: &str = "Have somebody wait.";

/// A prompt of a sub-agent that thinks once, and its reply.
pub(super) const ERRAND: &str = "Think for a moment.";
pub(super) const THOUGHT: &str = "It was a good thought.";

const BRIEF: &str = "Report on the three files";

/// Model replies from the first to the last of a run with children, which all work at once.
pub(super) const REPLIES_IN_A_ROW: u32 = 1 + 4 + 1;

pub(super) fn line_of(file: &str, line: u32) -> String {
    format!("{line} of {file}: nothing here is worth more than a glance\n")
}

/// `children` delegations at once, or the reads inline, each reply after `delay_ms`.
pub(super) fn reads(children: usize, delay_ms: u32) -> Value {
    let task = |child: usize| {
        call(
            "Task",
            &json!({ "description": "Read three files", "prompt": format!("{BRIEF} ({child})."), "subagent_type": "explore" }),
        )
    };
    let mut rules = vec![
        rule(DELEGATED, 0, delay_ms, &(0..children).map(task).collect::<Vec<_>>()),
        rule(DELEGATED, 1, delay_ms, &[json!({ "text": "They were read." })]),
    ];
    for reader in [INLINE, BRIEF] {
        for (turn, file) in FILES.iter().enumerate() {
            rules.push(rule(reader, turn, delay_ms, &[call("Read", &json!({ "file_path": file }))]));
        }
        rules.push(rule(reader, FILES.len(), delay_ms, &[json!({ "text": "All three say little." })]));
    }
    json!({ "rules": rules })
}

/// This many turns of one read each, and then an answer, or none ever. All calls differ: equal ones would be a loop.
pub(super) fn long(turns: usize, answers: bool) -> Value {
    let read = |turn: usize| call("Read", &json!({ "file_path": FILES[0], "limit": 100 + turn }));
    let mut rules: Vec<Value> = (0..turns).map(|turn| rule(LONG, turn, 0, &[read(turn)])).collect();
    rules.push(if answers {
        rule(LONG, turns, 0, &[json!({ "text": "It says little." })])
    } else {
        json!({ "when": { "prompt_contains": LONG, "turn": turns }, "reply": { "fault": "silence" } })
    });
    json!({ "rules": rules })
}

/// The errand alone, at once.
pub(super) fn errand() -> Value {
    json!({ "rules": [rule(ERRAND, 0, 0, &[json!({ "text": THOUGHT })])] })
}

/// A background sub-agent, then a turn that ends while it works, and so on, this many times. Its only reply takes
/// `delay_ms`, and no other agent works meanwhile. All prompts and reports differ: equal ones would be a loop.
pub(super) fn wake_ups(times: usize, delay_ms: u32) -> Value {
    let waiting = [json!({ "text": "I wait." })];
    let mut rules: Vec<Value> = (0..times)
        .flat_map(|time| {
            let brief = format!("{ERRAND} Piece {time:03}.");
            let errand =
                json!({ "description": "Think", "prompt": brief, "subagent_type": "explore", "run_in_background": true });
            [
                rule(WAKEFUL, 2 * time, 0, &[call("Task", &errand)]),
                rule(WAKEFUL, 2 * time + 1, 0, &waiting),
                rule(&brief, 0, delay_ms, &[json!({ "text": format!("{THOUGHT} That is piece {time}.") })]),
            ]
        })
        .collect();
    rules.push(rule(WAKEFUL, 2 * times, 0, &[json!({ "text": "All have come home." })]));
    let relay = json!({ "description": "Wait", "prompt": WAKEFUL, "subagent_type": "general-purpose" });
    rules.push(rule(RELAYED, 0, 0, &[call("Task", &relay)]));
    rules.push(rule(RELAYED, 1, 0, &[json!({ "text": "Somebody has waited." })]));
    json!({ "rules": rules })
}

fn rule(prompt: &str, turn: usize, delay_ms: u32, parts: &[Value]) -> Value {
    json!({
        "when": { "prompt_contains": prompt, "turn": turn },
        "reply": { "delay_ms": delay_ms, "parts": parts },
    })
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "call": { "tool": tool, "arguments": arguments } })
}
