//! The fold that all displays for people share: events in, what is worth lines out, and who is at work now.
//!
//! Pure: it reads no clock and writes nothing. All text that leaves it is neutral.

use std::collections::{HashMap, HashSet};

use sortie_protocol::{CallId, CallOutput, Event, Fact, Job, Reply, TaskId, TaskOutcome, Timestamp};
use sortie_tools::NOT_STARTED;

use super::messages::Messages;
use super::{neutral, words};

/// What a display wants to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interest {
    /// The root as a sub-agent, with lines of its own.
    pub(crate) root: bool,
    /// Each call of a root that has no lines of its own, not only the last one.
    pub(crate) calls_of_main: bool,
    /// Each call of all others.
    pub(crate) calls_of_sub_agents: bool,
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

/// Who lines are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Agent and task, or the agent alone where there is only one.
    pub(crate) name: String,
    /// The agent as its contract calls it.
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) model: String,
    /// Which one of several that were asked for at once, from 1, in the order of the calls.
    pub(crate) place: Option<usize>,
}

/// A task that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Working {
    pub(crate) subject: Subject,
    /// Whether it has lines of its own.
    pub(crate) shown: bool,
    pub(crate) depth: u32,
    /// When it was admitted; when it was started, as long as it waits for a slot.
    pub(crate) since: Timestamp,
    pub(crate) queued: bool,
    pub(crate) calls: u64,
    pub(crate) last_call: Option<String>,
    pub(crate) messages: Messages,
    order: u64,
    contract: String,
    asked: HashMap<CallId, String>,
    /// The calls of its last reply that ask for sub-agents, where there are several, and how many were started.
    several: Vec<CallId>,
    placed: usize,
}

/// Something worth lines that stay.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// One reply asks for several sub-agents at once; `kind` where all are of the same.
    Several {
        count: usize,
        kind: Option<String>,
    },
    Launched(Subject),
    /// It does not wait for a slot any more.
    Admitted(Subject),
    /// One line about a task.
    Remark {
        name: String,
        text: String,
    },
    Ended {
        subject: Subject,
        /// Without the notices that were told of before.
        outcome: Box<TaskOutcome>,
        messages: Messages,
    },
}

impl Progress {
    pub(crate) fn new(interest: Interest) -> Self {
        Self { interest, working: HashMap::new(), started: 0, noticed: HashSet::new() }
    }

    /// Takes in one event of the tree.
    pub(crate) fn apply(&mut self, event: &Event) -> Option<Happening> {
        match &event.fact {
            Fact::TaskStarted { job } => self.start(event, job),
            Fact::TaskEnded { outcome } => {
                let Working { subject, shown, messages, .. } = self.working.remove(&event.task_id)?;
                shown.then(|| Happening::Ended { subject, outcome: self.without_said(outcome), messages })
            }
            Fact::ChildStarted { call, child } => {
                let place = self.working.get(&event.task_id)?.place_of(call)?;
                self.working.get_mut(child)?.subject.place = Some(place);
                None
            }
            Fact::Noticed { text } if !self.noticed.insert(text.clone()) => None,
            _ => {
                let task = self.working.get_mut(&event.task_id)?;
                let Interest { calls_of_main, calls_of_sub_agents, .. } = self.interest;
                task.apply(event, if task.shown { calls_of_sub_agents } else { calls_of_main })
            }
        }
    }

    /// An outcome as it is shown: without the notices that stand above it already.
    fn without_said(&self, outcome: &TaskOutcome) -> Box<TaskOutcome> {
        let mut shown = outcome.clone();
        shown.notices.retain(|notice| !self.noticed.contains(notice));
        Box::new(shown)
    }

    fn start(&mut self, event: &Event, job: &Job) -> Option<Happening> {
        let shown = event.parent_id.is_some() || self.interest.root;
        let agent = neutral::line(&job.config.agent);
        let place = event.parent_id.and_then(|parent| self.working.get_mut(&parent)?.place_child());
        let subject = Subject {
            name: if shown { format!("{agent} {}", event.task_id) } else { agent },
            kind: kind_of(&job.contract, &job.config.agent),
            title: words::title(&job.title),
            model: words::model(&job.config.model),
            place,
        };
        self.started += 1;
        let mut messages = Messages::default();
        messages.say(&job.prompt);
        let task = Working {
            subject: subject.clone(),
            shown,
            depth: event.depth,
            since: event.time,
            queued: true,
            calls: 0,
            last_call: None,
            messages,
            order: self.started,
            contract: job.contract.clone(),
            asked: HashMap::new(),
            several: Vec::new(),
            placed: 0,
        };
        self.working.insert(event.task_id, task);
        shown.then_some(Happening::Launched(subject))
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
    /// What to say of the event, if it deserves lines.
    fn apply(&mut self, event: &Event, every_call: bool) -> Option<Happening> {
        let text = match &event.fact {
            Fact::TaskAdmitted => {
                self.queued = false;
                self.since = event.time;
                return self.shown.then(|| Happening::Admitted(self.subject.clone()));
            }
            Fact::ModelReplied { reply, .. } => return self.reply(reply),
            Fact::CallStarted { call, .. } => {
                let call_words = words::call(call);
                self.calls += 1;
                self.messages.ask(call.id.clone(), &call_words);
                self.last_call = Some(call_words);
                return None;
            }
            Fact::CallFinished { output, refused } => self.finish_call(output, *refused, every_call)?,
            // What to do about it is said once, where it was the last try.
            Fact::ModelRetried { wait_ms, error, .. } => {
                format!("retrying in {}: {}", words::elapsed(*wait_ms), words::fault(error))
            }
            Fact::Noticed { text } => format!("note: {}", neutral::line(text)),
            Fact::LimitReached { .. }
            | Fact::ModelCalled { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildEnded { .. }
            | Fact::TaskStarted { .. }
            | Fact::TaskEnded { .. }
            | Fact::Unknown => return None,
        };
        Some(Happening::Remark { name: self.subject.name.clone(), text })
    }

    fn reply(&mut self, reply: &Reply) -> Option<Happening> {
        self.messages.say(&reply.text());
        self.asked.extend(reply.calls().map(|call| (call.id.clone(), words::call(call))));
        let (calls, kinds): (Vec<CallId>, Vec<String>) = delegated(&self.contract, reply).into_iter().unzip();
        (self.several, self.placed) = (Vec::new(), 0);
        let (first, others) = kinds.split_first().filter(|(_, others)| !others.is_empty())?;
        self.several = calls;
        let kind = others.iter().all(|other| other == first).then(|| first.clone());
        Some(Happening::Several { count: kinds.len(), kind })
    }

    fn finish_call(&mut self, output: &CallOutput, refused: bool, every_call: bool) -> Option<String> {
        let call = self.asked.remove(&output.call).unwrap_or_else(|| neutral::line(&output.call.0));
        let said = neutral::line(&output.output.for_people);
        if refused {
            let text = format!("{call} refused: {said}");
            self.messages.say(&text);
            return Some(text);
        }
        let text = if output.output.failed { format!("{call} failed: {said}") } else { format!("{call} → {said}") };
        self.messages.answer(&output.call, &text);
        // Somebody waits for a sub-agent that will not come.
        let is_missed = output.output.failed && said.starts_with(NOT_STARTED);
        (every_call || is_missed).then_some(text)
    }

    /// The place of the child that is started now, if it is one of several: by starting, until its call is known.
    fn place_child(&mut self) -> Option<usize> {
        (self.placed < self.several.len()).then(|| {
            self.placed += 1;
            self.placed
        })
    }

    fn place_of(&self, call: &CallId) -> Option<usize> {
        self.several.iter().position(|known| known == call).map(|index| index + 1)
    }
}

/// The calls of a reply that ask for sub-agents, with the kind of agent that each one names.
fn delegated(contract: &str, reply: &Reply) -> Vec<(CallId, String)> {
    let Some(dialect) = sortie_contract::contract(contract) else { return Vec::new() };
    let calls = reply.calls().filter(|call| call.tool == dialect.tool_name());
    let requests = calls.filter_map(|call| Some((call.id.clone(), dialect.decode(&call.arguments).ok()?)));
    requests.map(|(call, request)| (call, kind_of(contract, &request.agent))).collect()
}

fn kind_of(contract: &str, agent: &str) -> String {
    let known = sortie_contract::contract(contract).and_then(|dialect| dialect.defaults().type_named(agent));
    known.map_or_else(|| neutral::line(agent), |known| known.name.to_owned())
}
