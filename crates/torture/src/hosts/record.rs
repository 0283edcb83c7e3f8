//! The record of all requests to the models of one scenario.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::host::MODEL;

pub(super) struct Record {
    events: Vec<Value>,
}

/// The answer of one tool, as a host gave it to its model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Received(pub(super) String);

impl Record {
    pub(super) fn read(log: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(log).context("the model has written nothing")?;
        // The last line may be half written.
        Ok(Self { events: text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect() })
    }

    fn requests(&self) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(|event| event["event"] == "request")
    }

    /// Everything that the host's model received from tools, in the last request of the host.
    pub(super) fn received(&self) -> Vec<Received> {
        let last = self.requests().filter(|request| request["model"] == MODEL).last();
        let mut found = Vec::new();
        if let Some(last) = last {
            collect(&last["body"], &mut found);
        }
        found
    }

    /// Requests for sub-agents whose prompt contains this.
    pub(super) fn asked_of(&self, prompt: &str) -> Vec<&Value> {
        let of_a_sub_agent = self.requests().filter(|request| request["model"] != MODEL);
        of_a_sub_agent.filter(|request| request["body"].to_string().contains(prompt)).collect()
    }

    /// Names of tools that the host offered its model, the host's own among them.
    pub(super) fn offered(&self) -> Vec<String> {
        let mut names = Vec::new();
        for request in self.requests().filter(|request| request["model"] == MODEL) {
            tool_names(&request["body"]["tools"], &mut names);
        }
        names.sort();
        names.dedup();
        names
    }

    /// The time from a sub-agent's request until its connection was cut, if it was.
    pub(super) fn cut_after(&self, prompt: &str) -> Option<Duration> {
        let asked = self.asked_of(prompt).into_iter().next_back()?;
        let is_cut = |event: &&Value| event["event"] == "abandoned" && event["connection"] == asked["connection"];
        let cut = self.events.iter().find(is_cut)?;
        Some(Duration::from_micros(cut["us"].as_u64()?.saturating_sub(asked["us"].as_u64()?)))
    }

    /// The time from a sub-agent's request until the next request of the host's model.
    pub(super) fn host_went_on_after(&self, prompt: &str) -> Option<Duration> {
        let asked = self.asked_of(prompt).into_iter().next_back()?["us"].as_u64()?;
        let later =
            self.requests().filter(|request| request["model"] == MODEL).filter_map(|request| request["us"].as_u64());
        Some(Duration::from_micros(later.into_iter().find(|us| *us > asked)? - asked))
    }
}

/// Outputs of tools, on any of the four wires.
fn collect(value: &Value, found: &mut Vec<Received>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            let output = match (value["type"].as_str(), value["role"].as_str()) {
                (Some("tool_result"), _) | (_, Some("tool")) => Some(&value["content"]),
                (Some("function_call_output"), _) => Some(&value["output"]),
                _ => value.get("functionResponse").map(|response| &response["response"]),
            };
            match output {
                Some(output) => found.push(Received(texts(output))),
                None => fields.values().for_each(|field| collect(field, found)),
            }
        }
        _ => {}
    }
}

/// All texts in an output, one after the other.
fn texts(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match fields.get("text") {
            Some(text) => texts(text),
            None => fields.values().map(texts).collect::<Vec<_>>().join("\n"),
        },
        _ => String::new(),
    }
}

fn tool_names(tools: &Value, names: &mut Vec<String>) {
    for tool in tools.as_array().into_iter().flatten() {
        names.extend(tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned));
        tool_names(&tool["tools"], names);
        tool_names(&tool["functionDeclarations"], names);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn outputs_are_found_on_all_wires() {
        let bodies = [
            json!({ "messages": [{ "role": "user", "content": [
                { "type": "tool_result", "content": [{ "type": "text", "text": "A" }, { "type": "text", "text": "B" }] },
                { "type": "text", "text": "no output" },
            ] }] }),
            json!({ "input": [{ "type": "function_call_output", "output": "A\nB" }] }),
            json!({ "contents": [{ "parts": [{ "functionResponse": { "name": "x", "response": { "output": "A\nB" } } }] }] }),
            json!({ "messages": [{ "role": "tool", "tool_call_id": "c", "content": "A\nB" }] }),
        ];
        for body in bodies {
            let event = json!({ "event": "request", "model": MODEL, "body": body });
            assert_eq!(Record { events: vec![event] }.received(), [Received("A\nB".to_owned())]);
        }
    }
}
