//! Replies of the scripted server to the agents of a run, and the files that they work on.
//!
//! By agreement with the checker: the id of a call is in everything that the call leaves behind; a command appends it
//! to `effects.log`. No two calls write the same file or the same line, and all replies differ.

use serde_json::{Value, json};

use super::agent::{Agent, Last, Turn};
use super::errand::Deed;
use super::world::{FOLLOW_UP, PROMPT};

const MAIN: &str = "main";
/// Words that follow a question in the mail of the agent that is asked.
const QUESTION: &str = "It waits for your answer";

#[derive(Debug, Default)]
pub(super) struct Script {
    rules: Vec<Value>,
    pub(super) files: Vec<(String, String)>,
    /// Flags for the first start of the program.
    pub(super) flags: &'static [&'static str],
    /// Sub-agents at work at the same time.
    pub(super) max_concurrent: Option<u64>,
    /// True if sub-agents have a limit on tokens, so that each call holds something back. The limit is never reached.
    pub(super) has_limit: bool,
    /// Act of another process on a sub-agent, as soon as there is one.
    pub(super) errand: Option<Deed>,
    n_workers: u64,
}

impl Script {
    pub(super) fn rules(&self) -> Value {
        json!({ "rules": self.rules })
    }

    /// The agent without a parent.
    pub(super) fn main_agent(&mut self) -> Agent {
        self.agent(MAIN.to_owned(), PROMPT.to_owned())
    }

    pub(super) fn worker(&mut self) -> Agent {
        self.n_workers += 1;
        let number = self.n_workers;
        self.agent(format!("w{number:03}"), prompt_of(number))
    }

    fn agent(&mut self, name: String, prompt: String) -> Agent {
        let agent = Agent::new(name, prompt);
        self.files.push(agent.notes());
        agent
    }

    /// Adds an agent's work, turn by turn, its report, and its reply to each later wake-up.
    pub(super) fn add(&mut self, agent: Agent) {
        let Agent { name, prompt, turns, last, answers, .. } = agent;
        let mut add = |mut when: Value, reply: Value| {
            when["prompt_contains"] = json!(prompt);
            self.rules.push(json!({ "when": when, "reply": reply }));
        };
        if answers {
            add(json!({ "last_contains": QUESTION }), one_call(&answer(&name)));
        }
        if name == MAIN {
            add(json!({ "last_contains": FOLLOW_UP }), one_call(&once_more(&name)));
        }
        let n_turns = turns.len();
        for (index, Turn { text, calls, delay_ms }) in turns.into_iter().enumerate() {
            let text = text.map(|text| json!({ "text": text }));
            let calls = calls.into_iter().map(|call| json!({ "call": call }));
            let parts: Vec<Value> = text.into_iter().chain(calls).collect();
            add(json!({ "turn": index }), json!({ "delay_ms": delay_ms, "parts": parts }));
        }
        let word = json!([{ "text": format!("This is word <turn> of {name}.") }]);
        if last == Last::Failure {
            add(json!({ "turn": n_turns }), json!({ "parts": word, "stop": "refusal" }));
        }
        // An agent that reports in its last turn is asked for nothing more.
        if last != Last::InTurn {
            add(json!({}), json!({ "parts": word }));
        }
    }
}

/// Prompt of the worker of a number; its requests are known by it.
fn prompt_of(number: u64) -> String {
    format!("You are worker {number:03}, and nobody else.")
}

fn one_call(call: &Value) -> Value {
    json!({ "parts": [{ "call": call }] })
}

/// The answer to the latest question.
fn answer(name: &str) -> Value {
    let id = format!("{name}-answer-<turn>");
    json!({ "tool": "SendMessage", "arguments": { "to": "<last task>", "message": format!("An answer: {id}.") }, "id": id })
}

/// Turn of the main agent after a follow-up: its first sub-agent also gets one.
fn once_more(name: &str) -> Value {
    let id = format!("{name}-more-<turn>");
    let arguments = json!({
        "description": "Once more",
        "prompt": format!("More: {id}."),
        "resume": "<task 1>",
        "run_in_background": true,
    });
    json!({ "tool": "Task", "arguments": arguments, "id": id })
}
