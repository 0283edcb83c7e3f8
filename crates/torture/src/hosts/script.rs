//! Scripts: what the host's model and the models of its sub-agents answer.

use serde_json::{Value, json};

use super::host::{Host, MODEL};

/// Last words of the host's model.
pub(super) const DONE: &str = "That is all.";

/// A script, rule by rule. Rules for what hosts ask besides come first.
pub(super) struct Script {
    host: Host,
    rules: Vec<Value>,
}

impl Script {
    pub(super) fn new(host: Host) -> Self {
        let title = r#"{"title": "A title"}"#;
        let besides = [
            // Claude Code asks for a title, and opencode does.
            json!({ "when": { "last_contains": "<session>" }, "reply": text(title) }),
            json!({ "when": { "system_contains": "You are a title generator" }, "reply": text("A title") }),
        ];
        Self { host, rules: besides.to_vec() }
    }

    /// The host's model calls tools of Sortie when it is asked this, and reads what they answer.
    pub(super) fn asked(mut self, prompt: &str, calls: &[(&str, Value)]) -> Self {
        let calls: Vec<Value> = calls
            .iter()
            .map(|(tool, arguments)| json!({ "call": { "tool": self.host.tool(tool), "arguments": arguments } }))
            .collect();
        // Hosts put their own messages before the prompt, or after it.
        for place in ["prompt_contains", "last_contains"] {
            let when = json!({ "model": MODEL, "turn": 0, place: prompt });
            self.rules.push(json!({ "when": when, "reply": { "parts": calls } }));
        }
        self
    }

    /// A sub-agent with this prompt gives this reply at this turn.
    pub(super) fn works(mut self, prompt: &str, turn: u32, reply: &Value) -> Self {
        self.rules.push(json!({ "when": { "prompt_contains": prompt, "turn": turn }, "reply": reply }));
        self
    }

    pub(super) fn end(mut self) -> Value {
        self.rules.insert(2, json!({ "when": { "model": MODEL, "turn": 1 }, "reply": text(DONE) }));
        json!({ "rules": self.rules })
    }
}

pub(super) fn text(text: &str) -> Value {
    json!({ "parts": [{ "text": text }] })
}

/// A reply with one call of a tool.
pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "parts": [{ "call": { "tool": tool, "arguments": arguments } }] })
}

/// Arguments of a Task call.
pub(super) fn task(prompt: &str) -> Value {
    json!({ "description": "Look at it", "prompt": prompt, "subagent_type": "explore" })
}
