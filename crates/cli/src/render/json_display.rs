//! Formats for programs: the outcomes of a tree as one object, alone or after a line for each event.

use std::io::{self, IsTerminal as _};

use serde_json::{Value, json};
use sortie_contract::unstarted_object;
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, Fact, Failure, TaskId, TaskOutcome, VERSION};

use super::Display;
use super::outcome_tree::OutcomeTree;
use crate::text::neutral;

/// `json`: nothing until the end, then the outcome with its children's.
#[derive(Debug, Default)]
pub(crate) struct JsonDisplay {
    tree: OutcomeTree,
}

impl Display for JsonDisplay {
    fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        self.tree = OutcomeTree::recalled(journal, task)?;
        Ok(())
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.tree.take(event);
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        print_json(&self.tree.finish(outcome))
    }
}

/// Stream for the lines.
#[derive(Debug, Default, Clone, Copy)]
enum Stream {
    #[default]
    Stdout,
    Stderr,
}

/// `stream-json`: each event as it happens, then a line of type `outcome`.
#[derive(Debug, Default)]
pub(crate) struct StreamDisplay {
    to: Stream,
    tree: OutcomeTree,
    /// Resumed task, which may have a parent; without one, the root of a new run.
    resumed: Option<TaskId>,
    /// Ending of that task, or its last event so far.
    last: Option<Event>,
}

impl Display for StreamDisplay {
    fn recall(&mut self, journal: &dyn Journal, task: TaskId) -> Result<(), JournalError> {
        self.tree = OutcomeTree::recalled(journal, task)?;
        self.resumed = Some(task);
        Ok(())
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.tree.take(event);
        self.to.print(&serde_json::to_string(event)?)?;
        let ended = self.last.as_ref().is_some_and(|last| matches!(last.fact, Fact::TaskEnded { .. }));
        let is_root = self.resumed.map_or(event.parent_id.is_none(), |resumed| event.task_id == resumed);
        if is_root && !ended {
            self.last = Some(event.clone());
        }
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        let to = self.to;
        to.print(&self.last_line(outcome).to_string())
    }
}

impl StreamDisplay {
    /// Display of the same lines on stderr, for a result that has stdout for itself.
    pub(super) fn on_stderr() -> Self {
        Self { to: Stream::Stderr, ..Self::default() }
    }

    /// Outcome with the number and time of the event that it repeats.
    pub(super) fn last_line(self, outcome: &TaskOutcome) -> Value {
        let (seq, leg, depth, time) = match &self.last {
            Some(last) => (last.seq, last.leg, last.depth, last.time),
            // Nothing of the run could be recorded.
            None => (0, 1, 0, SystemClock.now()),
        };
        // The fields of every event come first, in their order.
        let head = json!({
            "v": VERSION, "seq": seq, "task_id": outcome.task_id, "depth": depth, "leg": leg, "time": time,
            "type": "outcome",
        });
        joined(head, self.tree.finish(outcome))
    }
}

/// The fields of two objects, in order.
fn joined(mut head: Value, tail: Value) -> Value {
    if let (Some(head), Value::Object(tail)) = (head.as_object_mut(), tail) {
        head.extend(tail);
    }
    head
}

/// Format for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonForm {
    /// One object, as in `json`.
    Object,
    /// One line of `stream-json`.
    Stream,
}

/// Prints an outcome without a task, for programs whose run did not start. In `stream-json` it is the only line.
pub(crate) fn print_not_started(failure: &Failure, form: JsonForm) -> io::Result<()> {
    let mut outcome = unstarted_object(failure);
    outcome["children"] = json!([]);
    match form {
        JsonForm::Object => print_json(&outcome),
        JsonForm::Stream => {
            Stream::Stdout.print(&joined(json!({"v": VERSION, "type": "outcome"}), outcome).to_string())
        }
    }
}

/// Prints one JSON value: indented for a person at a terminal, on one line for a program.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    Stream::Stdout.print(&if io::stdout().is_terminal() { format!("{value:#}") } else { value.to_string() })
}

/// Prints JSON that is already text like [`print_json`]; a program gets every digit of it.
pub(crate) fn print_json_text(text: &str) -> io::Result<()> {
    match serde_json::from_str(text) {
        Ok(value) if io::stdout().is_terminal() => print_json(&value),
        _ => Stream::Stdout.print(text),
    }
}

impl Stream {
    fn print(self, line: &str) -> io::Result<()> {
        match self {
            Self::Stdout => print_line(io::stdout().lock(), line),
            Self::Stderr => {
                // A display that nobody can see any more must not end the run.
                print_line(io::stderr().lock(), line).unwrap_or_default();
                Ok(())
            }
        }
    }
}

fn print_line(mut to: impl io::Write + io::IsTerminal, line: &str) -> io::Result<()> {
    if to.is_terminal() {
        writeln!(to, "{}", neutral::json(line))?;
    } else {
        writeln!(to, "{line}")?;
    }
    to.flush()
}
