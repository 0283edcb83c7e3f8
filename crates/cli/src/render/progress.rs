//! The fold that both text displays share: events in, what is worth a line out, and who is at work now.
//!
//! Pure: it reads no clock and writes nothing. All text that leaves it is neutral.

use std::collections::{HashMap, HashSet};

use sortie_protocol::{CallId, Event, Fact, Job, TaskId, TaskOutcome, Timestamp};

use super::{neutral, words};

/// What a display wants to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interest {
    /// Each call, not only the last one of each task.
    pub(crate) calls: bool,
    /// The root in a box of its own, as a sub-agent.
    pub(crate) root: bool,
}

/// The tasks of one tree that are at work.
#[derive(Debug)]
pub(crate) struct Progress {
    interest: Interest,
    working: HashMap<TaskId, Working>,
    started: u64,
    /// Notices that were said. What holds for several tasks of a tree is said once; each outcome has it all the same.
    noticed: HashSet<String>,
}

/// A task that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Working {
    pub(crate) name: String,
    pub(crate) depth: u32,
    /// When it was admitted; when it was started, as long as it waits for a slot.
    pub(crate) since: Timestamp,
    pub(crate) queued: bool,
    pub(crate) calls: u64,
    pub(crate) last_call: Option<String>,
    order: u64,
    asked: HashMap<CallId, String>,
}

/// Something worth lines that stay.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    Launched {
        name: String,
        title: String,
        model: String,
    },
    /// One line about a task.
    Remark {
        name: String,
        text: String,
    },
    Ended {
        name: String,
        outcome: Box<TaskOutcome>,
    },
}

impl Progress {
    pub(crate) fn new(interest: Interest) -> Self {
        Self { interest, working: HashMap::new(), started: 0, noticed: HashSet::new() }
    }

    /// Takes in one event of the tree.
    pub(crate) fn apply(&mut self, event: &Event) -> Option<Happening> {
        if let Fact::TaskStarted { job } = &event.fact {
            return self.start(event, job);
        }
        if let Fact::TaskEnded { outcome } = &event.fact {
            let task = self.working.remove(&event.task_id)?;
            let shown = event.parent_id.is_some() || self.interest.root;
            return shown.then(|| Happening::Ended { name: task.name, outcome: self.without_said(outcome) });
        }
        let every_call = self.interest.calls;
        let task = self.working.get_mut(&event.task_id)?;
        if let Fact::Noticed { text } = &event.fact
            && !self.noticed.insert(text.clone())
        {
            return None;
        }
        task.apply(event, every_call).map(|text| Happening::Remark { name: task.name.clone(), text })
    }

    /// An outcome as it is shown: without the notices that stand above it already.
    fn without_said(&self, outcome: &TaskOutcome) -> Box<TaskOutcome> {
        let mut shown = outcome.clone();
        shown.notices.retain(|notice| !self.noticed.contains(notice));
        Box::new(shown)
    }

    fn start(&mut self, event: &Event, job: &Job) -> Option<Happening> {
        let is_root = event.parent_id.is_none();
        let agent = neutral::line(&job.config.agent);
        let name = if is_root && !self.interest.root { agent } else { format!("{agent} {}", event.task_id) };
        self.started += 1;
        let task = Working {
            name: name.clone(),
            depth: event.depth,
            since: event.time,
            queued: true,
            calls: 0,
            last_call: None,
            order: self.started,
            asked: HashMap::new(),
        };
        self.working.insert(event.task_id, task);
        (!is_root || self.interest.root).then(|| Happening::Launched {
            name,
            title: words::title(&job.title),
            model: words::model(&job.config.model),
        })
    }

    /// Tasks at work, oldest first. A task without a parent stands aside while its sub-agents are at work.
    pub(crate) fn working(&self) -> Vec<&Working> {
        let mut tasks: Vec<&Working> = self.working.values().collect();
        if !self.interest.root && tasks.len() > 1 {
            tasks.retain(|task| task.depth > 0);
        }
        tasks.sort_by_key(|task| task.order);
        tasks
    }
}

impl Working {
    /// What to say of the event, if it deserves a line.
    fn apply(&mut self, event: &Event, every_call: bool) -> Option<String> {
        match &event.fact {
            Fact::TaskAdmitted => {
                self.queued = false;
                self.since = event.time;
                None
            }
            Fact::ModelReplied { reply, .. } => {
                self.asked.extend(reply.calls().map(|call| (call.id.clone(), words::call(call))));
                None
            }
            Fact::CallStarted { call, .. } => {
                self.calls += 1;
                self.last_call = Some(words::call(call));
                None
            }
            Fact::CallFinished { output, refused } => {
                let call = self.asked.remove(&output.call).unwrap_or_else(|| neutral::line(&output.call.0));
                let said = neutral::line(&output.output.for_people);
                match (refused, output.output.failed) {
                    (true, _) => Some(format!("{call} refused: {said}")),
                    (false, true) => every_call.then(|| format!("{call} failed: {said}")),
                    (false, false) => every_call.then(|| format!("{call} → {said}")),
                }
            }
            // What to do about it is said once, where it was the last try.
            Fact::ModelRetried { wait_ms, error, .. } => {
                Some(format!("retrying in {}: {}", words::elapsed(*wait_ms), words::fault(error)))
            }
            Fact::Noticed { text } => Some(format!("note: {}", neutral::line(text))),
            Fact::LimitReached { .. }
            | Fact::ModelCalled { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildEnded { .. }
            | Fact::TaskStarted { .. }
            | Fact::TaskEnded { .. }
            | Fact::Unknown => None,
        }
    }
}
