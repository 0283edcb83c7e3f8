//! What the scripted server says to each agent, and the files that they work on.
//!
//! By agreement with the checker: the id of a call is in everything that the call leaves behind, a command appends it to
//! `effects.log`, and no two calls write the same file or the same line.

use serde_json::{Value, json};

use super::world::PROMPT;

/// Lines of a worker's notes, each of which is edited once at most.
const LINES: usize = 12;

#[derive(Debug, Default)]
pub(super) struct Script {
    rules: Vec<Value>,
    pub(super) files: Vec<(String, String)>,
    /// For the first start of the program.
    pub(super) flags: &'static [&'static str],
    n_workers: usize,
}

/// What one agent does, turn by turn.
#[derive(Debug)]
pub(super) struct Agent {
    /// Stands in the ids of its calls.
    name: String,
    /// By which its requests are known.
    prompt: String,
    turns: Vec<Turn>,
    /// Whether it is asked once more after its turns, and reports.
    reports: bool,
    n_edited: usize,
}

#[derive(Debug, Default)]
struct Turn {
    text: Option<&'static str>,
    calls: Vec<Value>,
    delay_ms: u64,
}

impl Script {
    pub(super) fn rules(&self) -> Value {
        json!({ "rules": self.rules })
    }

    /// The agent without a parent.
    pub(super) fn main_agent(&mut self) -> Agent {
        self.agent("main".to_owned(), PROMPT.to_owned())
    }

    pub(super) fn worker(&mut self) -> Agent {
        self.n_workers += 1;
        let number = self.n_workers;
        self.agent(format!("w{number:03}"), format!("You are worker {number:03}, and nobody else."))
    }

    fn agent(&mut self, name: String, prompt: String) -> Agent {
        let lines: Vec<String> = (0..LINES).map(|line| open_line(&name, line)).collect();
        self.files.push((notes_of(&name), lines.join("\n")));
        Agent { name, prompt, turns: vec![Turn::default()], reports: true, n_edited: 0 }
    }

    /// Adds what an agent does, with its report at the end. The server refuses whatever else it asks.
    pub(super) fn add(&mut self, agent: Agent) {
        let Agent { name, prompt, turns, reports, .. } = agent;
        let n_turns = turns.len();
        for (index, Turn { text, calls, delay_ms }) in turns.into_iter().enumerate() {
            let text = text.map(|text| json!({ "text": text }));
            let parts: Vec<Value> =
                text.into_iter().chain(calls.into_iter().map(|call| json!({ "call": call }))).collect();
            self.rules.push(rule(&prompt, index, &json!({ "delay_ms": delay_ms, "parts": parts })));
        }
        if reports {
            let report = json!([{ "text": format!("This is the report of {name}.") }]);
            self.rules.push(rule(&prompt, n_turns, &json!({ "parts": report })));
        }
    }
}

impl Agent {
    /// Ends a turn: what follows is done after the outputs of what came before. The next reply takes so long.
    pub(super) fn then(&mut self, delay_ms: u64) {
        self.turns.push(Turn { delay_ms, ..Turn::default() });
    }

    /// Ends with this turn, which is its report.
    pub(super) fn report(&mut self, text: &'static str) {
        let last = self.turns.len() - 1;
        self.turns[last].text = Some(text);
        self.reports = false;
    }

    pub(super) fn read(&mut self) {
        let notes = notes_of(&self.name);
        self.call("Read", |_| json!({ "file_path": notes }));
    }

    pub(super) fn grep(&mut self) {
        self.call("Grep", |_| json!({ "pattern": "is open", "path": "notes" }));
    }

    pub(super) fn glob(&mut self) {
        self.call("Glob", |_| json!({ "pattern": "notes/*.txt" }));
    }

    pub(super) fn list(&mut self) {
        self.call("LS", |_| json!({ "path": "notes" }));
    }

    pub(super) fn note_to_do(&mut self) {
        let todo = json!([{ "content": "work", "status": "pending", "activeForm": "working" }]);
        self.call("TodoWrite", |_| json!({ "todos": todo }));
    }

    pub(super) fn write(&mut self) {
        self.call("Write", |id| json!({ "file_path": format!("made/{id}.txt"), "content": format!("made by {id}\n") }));
    }

    pub(super) fn edit(&mut self) {
        let (notes, old) = (notes_of(&self.name), self.next_line());
        self.call(
            "Edit",
            |id| json!({ "file_path": notes, "old_string": old, "new_string": format!("done by {id}.") }),
        );
    }

    pub(super) fn multi_edit(&mut self) {
        let (notes, first, second) = (notes_of(&self.name), self.next_line(), self.next_line());
        self.call("MultiEdit", |id| {
            let edits = json!([
                { "old_string": first, "new_string": format!("first by {id}.") },
                { "old_string": second, "new_string": format!("second by {id}.") },
            ]);
            json!({ "file_path": notes, "edits": edits })
        });
    }

    /// A command that takes a while after its effect, or before.
    pub(super) fn bash(&mut self, before: &str, after: &str) {
        self.call("Bash", |id| json!({ "command": format!("{before}echo {id} >> effects.log{after}") }));
    }

    /// A command that nobody waits for, and that would go on for long.
    pub(super) fn background(&mut self) {
        self.call(
            "Bash",
            |id| json!({ "command": format!("echo {id} >> effects.log; sleep 300"), "run_in_background": true }),
        );
    }

    pub(super) fn look_at_background(&mut self) {
        self.call("BashOutput", |_| json!({ "bash_id": "bash_1" }));
    }

    pub(super) fn end_background(&mut self) {
        self.call("KillShell", |_| json!({ "shell_id": "bash_1" }));
    }

    pub(super) fn delegate(&mut self, to: &Agent) {
        let prompt = to.prompt.clone();
        self.call(
            "Task",
            |_| json!({ "description": "Do a part", "prompt": prompt, "subagent_type": "general-purpose" }),
        );
    }

    fn next_line(&mut self) -> String {
        self.n_edited += 1;
        open_line(&self.name, (self.n_edited - 1) % LINES)
    }

    fn call(&mut self, tool: &str, arguments: impl FnOnce(&str) -> Value) {
        let index = self.turns.len() - 1;
        let turn = &mut self.turns[index];
        let id = format!("{}-{index}-{}", self.name, turn.calls.len());
        turn.calls.push(json!({ "tool": tool, "arguments": arguments(&id), "id": id }));
    }
}

fn rule(prompt: &str, turn: usize, reply: &Value) -> Value {
    json!({ "when": { "prompt_contains": prompt, "turn": turn }, "reply": reply })
}

fn notes_of(name: &str) -> String {
    format!("notes/{name}.txt")
}

fn open_line(name: &str, line: usize) -> String {
    format!("line {line:02} of {name} is open")
}
