//! The work of one agent of a run: turns of calls, and its ending.

use serde_json::{Value, json};

/// Lines of a worker's notes, each of which is edited once at most.
const LINES: usize = 12;

#[derive(Debug)]
pub(super) struct Agent {
    /// Stands in the ids of its calls.
    pub(super) name: String,
    /// Prompt by which its requests are recognised.
    pub(super) prompt: String,
    pub(super) turns: Vec<Turn>,
    pub(super) last: Last,
    /// True if it answers questions.
    pub(super) answers: bool,
    /// Model calls that its parent allows it.
    pub(super) max_turns: Option<u64>,
    n_edited: usize,
}

#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) text: Option<&'static str>,
    pub(super) calls: Vec<Value>,
    pub(super) delay_ms: u64,
}

/// Ending of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// It is asked once more after its turns, and reports.
    Report,
    /// It is asked once more, and its provider withholds the answer.
    Failure,
    /// The last of its turns has its report, and calls that come too late.
    InTurn,
}

impl Agent {
    pub(super) fn new(name: String, prompt: String) -> Self {
        let turns = vec![Turn::default()];
        Self { name, prompt, turns, last: Last::Report, answers: false, max_turns: None, n_edited: 0 }
    }

    /// The file that it works on: its path and its text.
    pub(super) fn notes(&self) -> (String, String) {
        let lines: Vec<String> = (0..LINES).map(|line| open_line(&self.name, line)).collect();
        (notes_of(&self.name), lines.join("\n"))
    }

    /// Ends a turn: later calls come after the outputs of earlier ones. The next reply is delayed this long.
    pub(super) fn then(&mut self, delay_ms: u64) {
        self.turns.push(Turn { delay_ms, ..Turn::default() });
    }

    /// The reply with these calls takes so long.
    pub(super) fn takes(&mut self, delay_ms: u64) {
        let last = self.turns.len() - 1;
        self.turns[last].delay_ms = delay_ms;
    }

    /// Ends with this turn, which is its report.
    pub(super) fn report(&mut self, text: &'static str) {
        let last = self.turns.len() - 1;
        self.turns[last].text = Some(text);
        self.last = Last::InTurn;
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

    /// A long command in the background.
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

    fn next_line(&mut self) -> String {
        self.n_edited += 1;
        open_line(&self.name, (self.n_edited - 1) % LINES)
    }

    pub(super) fn call(&mut self, tool: &str, arguments: impl FnOnce(&str) -> Value) {
        let index = self.turns.len() - 1;
        let turn = &mut self.turns[index];
        let id = format!("{}-{index}-{}", self.name, turn.calls.len());
        turn.calls.push(json!({ "tool": tool, "arguments": arguments(&id), "id": id }));
    }
}

fn notes_of(name: &str) -> String {
    format!("notes/{name}.txt")
}

fn open_line(name: &str, line: usize) -> String {
    format!("line {line:02} of {name} is open")
}
