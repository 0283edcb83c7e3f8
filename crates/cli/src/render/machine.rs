//! The formats for programs: the outcomes of a tree as one object, alone or after a line for each event.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _};

use serde_json::{Value, json};
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{Journal, JournalError};
use sortie_protocol::{Event, Fact, Failure, TaskId, TaskOutcome, VERSION};

use super::recall::outcomes;
use super::{Display, neutral};

/// The states of tasks that have no ending.
pub(crate) const RUNNING: &str = "running";
pub(crate) const INTERRUPTED: &str = "interrupted";

/// The tasks of a tree as objects, folded from its events.
#[derive(Debug, Default)]
pub(crate) struct OutcomeTree {
    objects: HashMap<TaskId, Value>,
    /// In order of starting.
    children: HashMap<TaskId, Vec<TaskId>>,
}

impl OutcomeTree {
    /// A task and all below it, as the journal has them. Of one that is damaged that is said in its place.
    fn recalled(journal: &dyn Journal, task: TaskId) -> Result<Self, JournalError> {
        let (tree, _damages) = outcomes(journal, &journal.tree(task)?)?;
        Ok(tree)
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match &event.fact {
            Fact::TaskStarted { job } => self.start(job.task, event.parent_id, &job.config.agent, RUNNING),
            Fact::TaskResumed { config, .. } => self.start(event.task_id, event.parent_id, &config.agent, RUNNING),
            Fact::TaskEnded { outcome } => self.end(outcome),
            _ => {}
        }
    }

    /// A task that has no ending yet, with what is known of it instead.
    pub(crate) fn start(&mut self, task: TaskId, parent: Option<TaskId>, agent: &str, status: &str) {
        let unfinished = json!({"task_id": task, "agent": agent, "status": status});
        if let (None, Some(parent)) = (self.objects.insert(task, unfinished), parent) {
            self.children.entry(parent).or_default().push(task);
        }
    }

    pub(crate) fn end(&mut self, outcome: &TaskOutcome) {
        // All keys of an outcome are strings, so it always has a JSON form.
        self.objects.insert(outcome.task_id, serde_json::to_value(outcome).unwrap_or_default());
    }

    /// Says of a task why its ending cannot be shown.
    pub(crate) fn fail(&mut self, task: TaskId, failure: &Failure) {
        if let Some(object) = self.objects.get_mut(&task) {
            object["error"] = json!(failure);
        }
    }

    /// The root has ended so: whoever below it has no ending will get none.
    pub(super) fn finish(mut self, outcome: &TaskOutcome) -> Value {
        for object in self.objects.values_mut().filter(|object| object["status"] == RUNNING) {
            object["status"] = json!(INTERRUPTED);
        }
        self.end(outcome);
        self.object(outcome.task_id)
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

/// Where lines go.
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
    /// The task that goes on, which may have a parent; without one it is a task that has none.
    resumed: Option<TaskId>,
    /// The ending of that task, or its last event so far.
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
    /// The same lines beside a result that has stdout for itself.
    pub(super) fn on_stderr() -> Self {
        Self { to: Stream::Stderr, ..Self::default() }
    }

    /// The outcome, with the number and the time of the event that it repeats.
    pub(super) fn last_line(self, outcome: &TaskOutcome) -> Value {
        let mut line = self.tree.finish(outcome);
        let (seq, leg, depth, time) = match &self.last {
            Some(last) => (last.seq, last.leg, last.depth, last.time),
            // Nothing of it could be recorded.
            None => (0, 1, 0, SystemClock.now()),
        };
        line["v"] = json!(VERSION);
        line["seq"] = json!(seq);
        line["leg"] = json!(leg);
        line["depth"] = json!(depth);
        line["time"] = json!(time);
        line["type"] = json!("outcome");
        line
    }
}

/// What programs read of a run that was not started: an outcome without a task. In `stream-json` it is the only line.
pub(crate) fn print_not_started(failure: &Failure, is_stream: bool) -> io::Result<()> {
    let error = json!({"code": failure.code, "message": failure.message});
    let mut outcome = json!({"status": failure.status_unstarted(), "error": error, "children": []});
    if is_stream {
        outcome["v"] = json!(VERSION);
        outcome["type"] = json!("outcome");
        return Stream::Stdout.print(&outcome.to_string());
    }
    print_json(&outcome)
}

/// Prints one JSON value: spread out for a person at a terminal, on one line for a program.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    Stream::Stdout.print(&if io::stdout().is_terminal() { format!("{value:#}") } else { value.to_string() })
}

/// The same for JSON that is text already: a program gets every digit of it.
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
