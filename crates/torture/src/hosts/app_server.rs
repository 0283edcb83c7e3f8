//! Codex with a person: `codex app-server` is what its own editors and screens talk to, and it asks them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A running server; it ends with this value.
pub(super) struct AppServer {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
}

impl AppServer {
    pub(super) fn start(mut command: Command) -> Result<Self> {
        command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot run `codex app-server`")?;
        let input = child.stdin.take().context("it has no input")?;
        let output = child.stdout.take().context("it has no output")?;
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for message in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
                // Nobody listens any more once the turn is over.
                sender.send(message).ok();
            }
        });
        Ok(Self { child, input, messages })
    }

    /// Does one turn, and says yes to every question of an MCP server. Returns the questions.
    pub(super) fn turn(&mut self, prompt: &str, budget: Duration) -> Result<Vec<String>> {
        let until = Instant::now() + budget;
        let mut questions = Vec::new();
        self.send(&json!({ "id": 1, "method": "initialize", "params": { "clientInfo": { "name": "trial", "version": "1" } } }))?;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).context("the turn does not end")?;
            if let Some(error) = message.get("error").filter(|_| message.get("id").is_some()) {
                bail!("Codex refuses: {error}");
            }
            match (message["id"].as_u64(), message["method"].as_str()) {
                (Some(1), None) => {
                    self.send(&json!({ "method": "initialized" }))?;
                    self.send(&json!({ "id": 2, "method": "thread/start", "params": {} }))?;
                }
                (Some(2), None) => {
                    let input = json!([{ "type": "text", "text": prompt }]);
                    let params = json!({ "threadId": message["result"]["thread"]["id"], "input": input });
                    self.send(&json!({ "id": 3, "method": "turn/start", "params": params }))?;
                }
                (Some(id), Some("mcpServer/elicitation/request")) => {
                    questions.push(message["params"]["message"].as_str().unwrap_or_default().to_owned());
                    let content = yes(&message["params"]["requestedSchema"]);
                    self.send(&json!({ "id": id, "result": { "action": "accept", "content": content } }))?;
                }
                (None, Some("turn/completed")) => return Ok(questions),
                _ => {}
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}").and_then(|()| self.input.flush()).context("Codex does not read")
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to do.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The form of a question, filled in by somebody who agrees this once.
fn yes(schema: &Value) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let answers = fields.map(|(name, field)| {
        let choices = field["enum"].as_array().map(Vec::as_slice).unwrap_or_default();
        let titled = field["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        let first = choices.first().or_else(|| titled.first().map(|choice| &choice["const"]));
        (name.clone(), first.cloned().unwrap_or(Value::Bool(true)))
    });
    Value::Object(answers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_choice_of_each_field_is_taken() {
        let fields = json!({
            "allow": { "type": "boolean" },
            "scope": { "enum": ["once", "always"] },
            "mode": { "oneOf": [{ "const": "a" }, { "const": "b" }] },
        });
        let content = yes(&json!({ "type": "object", "properties": fields }));
        assert_eq!(content, json!({ "allow": true, "scope": "once", "mode": "a" }));
    }
}
