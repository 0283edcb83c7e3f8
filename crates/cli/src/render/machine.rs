//! The formats for programs: the outcomes of a tree as one object, alone or after a line for each event.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _, Write as _};

use serde_json::{Value, json};
use sortie_protocol::{Event, Fact, TaskId, TaskOutcome};

use super::{Display, neutral};

/// The tasks of a tree as objects, folded from its events.
#[derive(Debug, Default)]
pub(crate) struct OutcomeTree {
    objects: HashMap<TaskId, Value>,
    /// In order of starting.
    children: HashMap<TaskId, Vec<TaskId>>,
}

impl OutcomeTree {
    pub(crate) fn take(&mut self, event: &Event) {
        match &event.fact {
            Fact::TaskStarted { job } => {
                let unfinished = json!({"task_id": job.task, "agent": job.config.agent, "status": "running"});
                if let (None, Some(parent)) = (self.objects.insert(job.task, unfinished), event.parent_id) {
                    self.children.entry(parent).or_default().push(job.task);
                }
            }
            Fact::TaskEnded { outcome } => {
                self.objects.insert(outcome.task_id, object(outcome));
            }
            _ => {}
        }
    }

    /// Says of a task without an ending what is known of it instead.
    pub(crate) fn set_status(&mut self, task: TaskId, status: &str) {
        if let Some(object) = self.objects.get_mut(&task) {
            object["status"] = json!(status);
        }
    }

    /// A task's outcome with its children's in `children`, all the way down.
    pub(crate) fn object(&self, task: TaskId) -> Value {
        let children = self.children.get(&task).into_iter().flatten();
        let children: Vec<Value> = children.map(|child| self.object(*child)).collect();
        let mut object = self.objects.get(&task).cloned().unwrap_or_else(|| json!({"task_id": task}));
        object["children"] = children.into();
        object
    }
}

fn object(outcome: &TaskOutcome) -> Value {
    // All keys of an outcome are strings, so it always has a JSON form.
    serde_json::to_value(outcome).unwrap_or_default()
}

/// `json`: nothing until the end, then the outcome with its children's.
#[derive(Debug, Default)]
pub(crate) struct JsonDisplay {
    tree: OutcomeTree,
}

impl Display for JsonDisplay {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.tree.take(event);
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        print_json(&self.tree.object(outcome.task_id))
    }
}

/// `stream-json`: each event as it happens, then a line of type `outcome`.
#[derive(Debug, Default)]
pub(crate) struct StreamDisplay {
    tree: OutcomeTree,
    /// The last event of the task without a parent.
    last: Option<Event>,
}

impl Display for StreamDisplay {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.tree.take(event);
        print_line(&serde_json::to_string(event)?)?;
        if event.parent_id.is_none() {
            self.last = Some(event.clone());
        }
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        let mut line = self.tree.object(outcome.task_id);
        if let Some(last) = &self.last {
            line["v"] = json!(last.v);
            // It follows the task's last event in the stream; the journal has no such event.
            line["seq"] = json!(last.seq + 1);
            line["depth"] = json!(last.depth);
            line["leg"] = json!(last.leg);
            line["time"] = json!(last.time);
        }
        line["type"] = json!("outcome");
        print_line(&line.to_string())
    }
}

/// Prints one JSON value: spread out for a person at a terminal, on one line for a program.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    print_line(&if io::stdout().is_terminal() { format!("{value:#}") } else { value.to_string() })
}

fn print_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        writeln!(stdout, "{}", neutral::json(line))?;
    } else {
        writeln!(stdout, "{line}")?;
    }
    stdout.flush()
}
