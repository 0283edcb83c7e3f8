//! Cross-references between the logs of a run: which task was told of which ending, and which has read it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sortie_protocol::{CallId, Command, Event, Fact, MailMark, ReportMark, Sender, Status, TaskId, ToolOutput};

use super::{Evidence, TaskLog};

/// Lookup by task, or by the leg of one.
#[derive(Default)]
pub(super) struct Index<'a> {
    logs: HashMap<TaskId, &'a TaskLog>,
    /// Notices of endings, with the call that each answers.
    told: HashMap<ReportMark, Vec<(Place<'a>, &'a CallId)>>,
    /// Unread endings that another task has adopted.
    adopted: HashMap<ReportMark, Vec<Place<'a>>>,
    read: HashMap<ReportMark, Vec<Reading<'a>>>,
    /// Number of children that a call started or resumed.
    pub(super) started: HashMap<(TaskId, &'a CallId), u64>,
    /// Calls that wait for their children to the end.
    awaited: HashSet<(TaskId, &'a CallId)>,
    outputs: HashMap<(TaskId, &'a CallId), &'a ToolOutput>,
    /// Messages sent by a call of another task.
    pub(super) sent: HashMap<(TaskId, &'a CallId), u64>,
    /// Messages of people, by their text.
    pub(super) said: HashMap<&'a str, u64>,
    stopped: HashSet<TaskId>,
}

/// A place in a log.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) log: &'a TaskLog,
    pub(super) seq: u64,
}

/// A piece of mail in a task's conversation.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) place: Place<'a>,
    /// The message, or the output of a call, that carries it.
    pub(super) text: &'a str,
}

/// Returns the mail that a fact adds to its task's conversation.
pub(super) fn mail_of(fact: &Fact) -> Option<(&MailMark, &str)> {
    match fact {
        Fact::MailRead { mail, text } => Some((mail, text)),
        Fact::CallFinished { output, .. } => Some((&output.output.mail, &output.output.for_model)),
        _ => None,
    }
}

impl<'a> Index<'a> {
    pub(super) fn new(evidence: &'a Evidence) -> Self {
        let mut index = Self::default();
        for log in &evidence.tasks {
            index.logs.extend(log.task().map(|task| (task, log)));
            for event in &log.events {
                index.take(Place { log, seq: event.seq }, event);
            }
        }
        index.stopped.extend(evidence.commands.iter().filter_map(|(_, command)| match command {
            Command::Stop { task } => Some(*task),
            _ => None,
        }));
        index
    }

    fn take(&mut self, place: Place<'a>, Event { task_id, fact, .. }: &'a Event) {
        match fact {
            Fact::ChildStarted { call, background, .. } => {
                *self.started.entry((*task_id, call)).or_default() += 1;
                self.awaited.extend((!background).then_some((*task_id, call)));
            }
            Fact::ChildReleased { call, .. } => {
                self.awaited.remove(&(*task_id, call));
            }
            Fact::CallFinished { output, .. } => {
                self.outputs.insert((*task_id, &output.call), &output.output);
            }
            Fact::ChildEnded { call, child, child_leg } => {
                let mark = ReportMark { child: *child, leg: *child_leg };
                self.told.entry(mark).or_default().push((place, call));
            }
            Fact::ChildAdopted { child, ended_leg: Some(leg) } => {
                self.adopted.entry(ReportMark { child: *child, leg: *leg }).or_default().push(place);
            }
            Fact::MessageArrived { from: Sender::Task { task, .. }, call: Some(call), .. } => {
                *self.sent.entry((*task, call)).or_default() += 1;
            }
            Fact::MessageArrived { from: Sender::Person, text, .. } => *self.said.entry(text).or_default() += 1,
            Fact::ModelReplied { reply, .. } => {
                let stops = reply.calls().filter(|call| call.tool == "TaskStop");
                self.stopped.extend(stops.filter_map(|call| {
                    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
                    arguments["task_id"].as_str()?.parse::<TaskId>().ok()
                }));
            }
            _ => {}
        }
        let (mail, text) = mail_of(fact).unzip();
        for mark in mail.into_iter().flat_map(|mail| &mail.reports) {
            let text = text.unwrap_or_default();
            self.read.entry(*mark).or_default().push(Reading { place, text });
        }
    }

    pub(super) fn log(&self, task: TaskId) -> Option<&'a TaskLog> {
        self.logs.get(&task).copied()
    }

    /// True if a call waited for its child to the end.
    pub(super) fn awaits(&self, task: TaskId, call: &'a CallId) -> bool {
        self.awaited.contains(&(task, call))
    }

    pub(super) fn output(&self, task: TaskId, call: &'a CallId) -> Option<&'a ToolOutput> {
        self.outputs.get(&(task, call)).copied()
    }

    /// True if a call's message arrived at a task that ended without reading it.
    pub(super) fn was_missed(&self, sender: TaskId, by: &CallId) -> bool {
        self.logs.values().any(|log| {
            let arrived = log.events.iter().find_map(|event| match &event.fact {
                Fact::MessageArrived { number, from: Sender::Task { task, .. }, call: Some(call), .. }
                    if *task == sender && call == by =>
                {
                    Some(*number)
                }
                _ => None,
            });
            let is_read = |number| {
                let mut mail = log.events.iter().filter_map(|event| mail_of(&event.fact));
                mail.any(|(mail, _)| mail.messages.contains(&number))
            };
            arrived.is_some_and(|number| !is_read(number)) && log.endings().next().is_some()
        })
    }

    pub(super) fn told(&self, mark: ReportMark) -> &[(Place<'a>, &'a CallId)] {
        self.told.get(&mark).map_or(&[], Vec::as_slice)
    }

    pub(super) fn adopted(&self, mark: ReportMark) -> &[Place<'a>] {
        self.adopted.get(&mark).map_or(&[], Vec::as_slice)
    }

    pub(super) fn read(&self, mark: ReportMark) -> &[Reading<'a>] {
        self.read.get(&mark).map_or(&[], Vec::as_slice)
    }

    /// All endings mentioned in any log.
    pub(super) fn marks(&self) -> impl Iterator<Item = ReportMark> {
        self.told.keys().chain(self.read.keys()).copied()
    }

    /// True if the task was meant to end: it or an ancestor was stopped, or an ancestor did not complete.
    pub(super) fn is_stopped(&self, log: &TaskLog) -> bool {
        let mut next = log.task();
        while let Some(task) = next {
            let Some(above) = self.log(task) else { return false };
            let has_given_up = || above.endings().any(|(_, outcome)| outcome.status != Status::Completed);
            if self.stopped.contains(&task) || Some(task) != log.task() && has_given_up() {
                return true;
            }
            next = above.job().and_then(|job| job.parent);
        }
        false
    }
}
