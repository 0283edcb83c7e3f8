//! Fold behind every progress display for people: events in, lines and working tasks out.
//!
//! Pure: it reads no clock and writes nothing. All text that leaves it is neutralised.

pub(super) mod background;
pub(super) mod earlier;
pub(super) mod messages;
mod parallel_start;

use std::collections::{HashMap, HashSet};

use sortie_protocol::{
    AgentConfig, CallId, CallOutput, CallResult, Event, Fact, Reply, Sender, TaskId, TaskOutcome, Timestamp,
};

use crate::text::{neutral, words};
use background::Mention;
use earlier::EarlierTasks;
use messages::Messages;
use parallel_start::ParallelStart;

/// Tool that runs commands.
const SHELL: &str = "Bash";

/// Mark of a call that failed or was refused.
const WITHOUT_SUCCESS: &str = "✗";

/// Activity of a resumed task that has nothing new to do yet.
const RESUMES: &str = "resumes where it stopped";

/// Lines that a display wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interest {
    /// The root as a sub-agent, with lines of its own.
    pub(crate) root: bool,
    /// Every call of a root without lines of its own, not only the last.
    pub(crate) calls_of_main: bool,
    /// Every call of the other tasks.
    pub(crate) calls_of_sub_agents: bool,
    /// Mark after the name of agents that can run commands, if there is one.
    pub(crate) shell_mark: Option<&'static str>,
}

/// Working tasks of one tree.
pub(crate) struct Progress {
    interest: Interest,
    working: HashMap<TaskId, Working>,
    /// Requested sub-agents of which it is not yet known how many will start.
    pending: Option<Box<ParallelStart>>,
    started: u64,
    /// Task of a run that resumes it.
    resumed: Option<TaskId>,
    /// Contract of the tree, if known before its first event.
    contract: String,
    /// Titles of tasks; a resumed task does not repeat its own.
    titles: HashMap<TaskId, String>,
    /// Open calls of tasks that began before this run.
    asked_before: HashMap<TaskId, HashMap<CallId, String>>,
    /// Notices already shown. A notice about several tasks appears once, though each outcome has it.
    noticed: HashSet<String>,
    /// True once the commands for background tasks have been shown.
    told_of_background: bool,
    /// Tasks that have ended and were not resumed; a simultaneous wait may still name them.
    ended: HashSet<TaskId>,
    /// Task whose question is about to reach its parent as a message.
    asking: Option<TaskId>,
}

/// Subject of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Agent and task, or the agent alone if it is the only one.
    pub(crate) name: String,
    /// Agent, as its contract calls it.
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) model: String,
    /// Model as it was asked for, and the one that serves, if that differs.
    pub(crate) asked_model: String,
    /// Position from 1 among sub-agents started at once, in the order of their calls.
    pub(crate) place: Option<usize>,
}

/// Task that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Working {
    pub(crate) subject: Subject,
    /// True if the task has lines of its own.
    pub(crate) shown: bool,
    /// Time of admission; time of the start while the task waits for a slot.
    pub(crate) since: Timestamp,
    pub(crate) queued: bool,
    /// Time since which the task has had nothing to do.
    pub(crate) idle_since: Option<Timestamp>,
    pub(crate) calls: u64,
    pub(crate) failed_calls: u64,
    pub(crate) last_call: Option<String>,
    pub(crate) messages: Messages,
    order: u64,
    asked: HashMap<CallId, String>,
    /// Sub-agents started by its last reply, if several.
    several: Vec<TaskId>,
}

/// Event worth lasting lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// One reply started several sub-agents at once; `kind` if all are of one kind.
    Several {
        count: usize,
        kind: Option<String>,
    },
    Launched(Subject),
    /// The task has got its slot.
    Admitted(Subject),
    /// Finished lines.
    Said(Vec<String>),
    /// One line about a task.
    Remark {
        name: String,
        text: String,
    },
    Ended {
        subject: Subject,
        /// Outcome without the notices already shown.
        outcome: Box<TaskOutcome>,
        messages: Messages,
    },
}

impl Progress {
    pub(crate) fn new(interest: Interest) -> Self {
        Self {
            interest,
            working: HashMap::new(),
            pending: None,
            started: 0,
            resumed: None,
            contract: String::new(),
            titles: HashMap::new(),
            asked_before: HashMap::new(),
            noticed: HashSet::new(),
            told_of_background: false,
            ended: HashSet::new(),
            asking: None,
        }
    }

    /// Recalls the tasks of a resumed run.
    pub(crate) fn recall(&mut self, EarlierTasks { task, contract, titles, asked }: EarlierTasks) {
        (self.resumed, self.contract, self.titles, self.asked_before) = (Some(task), contract, titles, asked);
    }

    /// Applies one event of the tree.
    pub(crate) fn apply(&mut self, event: &Event) -> Vec<Happening> {
        let Some(mut several) = self.pending.take() else { return self.take(event).into_iter().collect() };
        if several.hold(event) {
            return self.release(*several);
        }
        self.pending = Some(several);
        Vec::new()
    }

    /// Applies the events held back, after announcing the start that they turned out to be.
    fn release(&mut self, several: ParallelStart) -> Vec<Happening> {
        let (parent, started, held) = several.into_parts();
        let mut happenings = Vec::new();
        if started.len() > 1 {
            let kind_of_started = |event: &Event| match &event.fact {
                Fact::TaskStarted { job } if started.contains(&job.task) => {
                    Some(kind_of(&job.contract, &job.config.agent))
                }
                _ => None,
            };
            let mut kinds = held.iter().filter_map(kind_of_started);
            let kind = kinds.next().filter(|first| kinds.all(|other| other == *first));
            happenings.push(Happening::Several { count: started.len(), kind });
            if let Some(parent) = self.working.get_mut(&parent) {
                parent.several = started;
            }
        }
        for event in &held {
            happenings.extend(self.apply(event));
        }
        happenings
    }

    fn take(&mut self, event: &Event) -> Option<Happening> {
        match &event.fact {
            Fact::TaskStarted { job } => {
                self.contract.clone_from(&job.contract);
                self.titles.insert(job.task, job.title.clone());
                self.start(event, &job.config, &job.prompt)
            }
            Fact::TaskResumed { config, prompt, title, .. } => {
                self.titles.extend(title.iter().map(|title| (event.task_id, title.clone())));
                self.start(event, config, prompt.as_deref().unwrap_or(RESUMES))
            }
            Fact::TaskEnded { outcome } => {
                self.ended.insert(event.task_id);
                let Working { subject, shown, messages, .. } = self.working.remove(&event.task_id)?;
                if !shown {
                    return self.left();
                }
                Some(Happening::Ended { subject, outcome: self.without_said(outcome), messages })
            }
            Fact::ModelReplied { reply, .. } => {
                let task = self.working.get_mut(&event.task_id)?;
                task.reply(reply);
                let contract = sortie_contract::contract(&self.contract)?;
                self.pending = ParallelStart::begin(event.task_id, reply, contract.tool_name()).map(Box::new);
                None
            }
            Fact::Noticed { text } if !self.noticed.insert(text.clone()) => None,
            Fact::ChildStarted { child, background: true, .. } => {
                let is_told = std::mem::replace(&mut self.told_of_background, true);
                let mention = if is_told { Mention::Later } else { Mention::First };
                Some(Happening::Said(background::launched(*child, mention)))
            }
            Fact::MessageArrived { from: Sender::Task { task, .. }, .. } if self.asking.take() == Some(*task) => None,
            _ => {
                self.asking = matches!(event.fact, Fact::QuestionAsked { .. }).then_some(event.task_id);
                let text = self.remark(&event.fact);
                let task = self.working.get_mut(&event.task_id)?;
                task.idle_since = matches!(event.fact, Fact::TaskParked { .. }).then_some(event.time);
                if let Some(text) = text {
                    return Some(Happening::Remark { name: task.subject.name.clone(), text });
                }
                let Interest { calls_of_main, calls_of_sub_agents, .. } = self.interest;
                task.apply(event, if task.shown { calls_of_sub_agents } else { calls_of_main })
            }
        }
    }

    /// Line for a fact about background work, if it deserves one.
    fn remark(&self, fact: &Fact) -> Option<String> {
        let subject_of = |task| Some(&self.working.get(&task)?.subject);
        let Fact::TaskParked { waits_for } = fact else { return background::remark(fact, subject_of) };
        let left: Vec<TaskId> = waits_for.iter().filter(|task| !self.ended.contains(task)).copied().collect();
        (!left.is_empty()).then(|| background::waiting(&left, subject_of))
    }

    /// Final line for shown tasks that outlive the run: other processes continue them.
    fn left(&self) -> Option<Happening> {
        let mut left: Vec<(&TaskId, &Working)> = self.working.iter().filter(|(_, task)| task.shown).collect();
        left.sort_by_key(|(_, task)| task.order);
        let line = |(id, task): (&TaskId, &Working)| {
            format!("{} has not ended here: `sortie task-status {id}` shows its status", task.subject.name)
        };
        (!left.is_empty()).then(|| Happening::Said(left.into_iter().map(line).collect()))
    }

    /// Outcome without the notices already shown above it.
    fn without_said(&self, outcome: &TaskOutcome) -> Box<TaskOutcome> {
        let mut shown = outcome.clone();
        shown.notices.retain(|notice| !self.noticed.contains(notice));
        Box::new(shown)
    }

    /// True for the run's own task, which has no lines of its own unless requested.
    fn is_root(&self, event: &Event) -> bool {
        self.resumed.map_or(event.parent_id.is_none(), |resumed| event.task_id == resumed)
    }

    fn start(&mut self, event: &Event, config: &AgentConfig, prompt: &str) -> Option<Happening> {
        let shown = self.interest.root || !self.is_root(event);
        let title = self.titles.get(&event.task_id).map_or(prompt, String::as_str);
        let agent = neutral::line(&config.agent);
        let place = event.parent_id.and_then(|parent| self.working.get(&parent)?.place_of(event.task_id));
        let has_shell = config.tools.iter().any(|tool| tool == SHELL);
        let mark = self.interest.shell_mark.filter(|_| has_shell).unwrap_or_default();
        let subject = Subject {
            name: if shown { format!("{agent} {}{mark}", event.task_id) } else { format!("{agent}{mark}") },
            kind: kind_of(&self.contract, &config.agent),
            title: words::title(title),
            model: words::model(&config.model),
            asked_model: words::asked_model(config.model_asked.as_deref(), &config.model),
            place,
        };
        self.started += 1;
        self.ended.remove(&event.task_id);
        let mut messages = Messages::default();
        messages.say(prompt);
        let task = Working {
            subject: subject.clone(),
            shown,
            since: event.time,
            queued: true,
            idle_since: None,
            calls: 0,
            failed_calls: 0,
            last_call: None,
            messages,
            order: self.started,
            asked: self.asked_before.remove(&event.task_id).unwrap_or_default(),
            several: Vec::new(),
        };
        self.working.insert(event.task_id, task);
        shown.then_some(Happening::Launched(subject))
    }

    /// Tasks at work, oldest first. One without lines of its own is left out while its sub-agents work.
    pub(crate) fn working(&self) -> Vec<&Working> {
        let mut tasks: Vec<&Working> = self.working.values().collect();
        if !self.interest.root && tasks.len() > 1 {
            tasks.retain(|task| task.shown);
        }
        tasks.sort_by_key(|task| task.order);
        tasks
    }
}

impl Working {
    /// Lines for the event, if it deserves any.
    fn apply(&mut self, event: &Event, every_call: bool) -> Option<Happening> {
        let text = match &event.fact {
            Fact::TaskAdmitted => {
                self.queued = false;
                self.since = event.time;
                return self.shown.then(|| Happening::Admitted(self.subject.clone()));
            }
            Fact::CallStarted { call, .. } => {
                let call_words = words::call(call);
                self.calls += 1;
                self.messages.ask(call.id.clone(), &call_words);
                self.last_call = Some(call_words);
                return None;
            }
            Fact::CallProgressed { call, text } => {
                self.hear(call, text);
                return None;
            }
            Fact::TaskQueued { needs } => {
                self.last_call = Some(format!("waiting for {needs}"));
                return None;
            }
            Fact::CallFinished { output, refused } => self.finish_call(output, *refused, every_call)?,
            // The advice appears once, after the last attempt.
            Fact::ModelRetried { wait_ms, error, .. } => {
                format!("retrying in {}: {}", words::elapsed(*wait_ms), words::fault(error))
            }
            Fact::Compacted { compaction, .. } => compaction.to_string(),
            Fact::Noticed { text } => format!("note: {}", neutral::line(text)),
            // The reader has seen the question itself.
            Fact::ApprovalAsked { .. }
            | Fact::LimitReached { .. }
            | Fact::AnswerReturned { .. }
            | Fact::TaskResumed { .. }
            | Fact::ProcessStarted { .. }
            | Fact::ApprovalAnswered { .. }
            | Fact::Assisted { .. }
            | Fact::ModelCalled { .. }
            | Fact::ModelLost { .. }
            | Fact::ModelReplied { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildReleased { .. }
            | Fact::ChildAdopted { .. }
            | Fact::MessageArrived { .. }
            | Fact::MailRead { .. }
            | Fact::QuestionAsked { .. }
            | Fact::NotePosted { .. }
            | Fact::TaskParked { .. }
            | Fact::Reminded { .. }
            | Fact::ChildEnded { .. }
            | Fact::OutcomeGiven { .. }
            | Fact::TaskStarted { .. }
            | Fact::TaskEnded { .. }
            | Fact::Unknown => return None,
        };
        Some(Happening::Remark { name: self.subject.name.clone(), text })
    }

    /// Shows a call's own progress after its words while it runs.
    fn hear(&mut self, call: &CallId, text: &str) {
        if let Some(words) = self.asked.get(call) {
            self.last_call = Some(format!("{words}: {}", neutral::line(text)));
        }
    }

    fn reply(&mut self, reply: &Reply) {
        self.messages.say(&reply.text());
        self.asked.extend(reply.calls().map(|call| (call.id.clone(), words::call(call))));
        self.several.clear();
    }

    fn finish_call(&mut self, output: &CallOutput, refused: bool, every_call: bool) -> Option<String> {
        let call = self.asked.remove(&output.call).unwrap_or_else(|| neutral::line(&output.call.0));
        let said = neutral::line(&output.output.for_people);
        if refused || output.output.failed {
            self.last_call = Some(format!("{WITHOUT_SUCCESS} {call}"));
        }
        if refused {
            let text = format!("{WITHOUT_SUCCESS} {call} refused: {said}");
            self.messages.say(&text);
            return Some(text);
        }
        self.failed_calls += u64::from(output.output.failed && !output.output.did_not_run);
        let text = match output.output.result() {
            CallResult::Failed => format!("{WITHOUT_SUCCESS} {call} failed: {said}"),
            CallResult::Done => format!("{call} → {said}"),
        };
        self.messages.answer(&output.call, &text);
        // Someone waits for a sub-agent that will not start.
        let is_missed = output.output.failed && output.output.started_nobody();
        (every_call || is_missed).then_some(text)
    }

    fn place_of(&self, child: TaskId) -> Option<usize> {
        self.several.iter().position(|known| *known == child).map(|index| index + 1)
    }
}

fn kind_of(contract: &str, agent: &str) -> String {
    let known = sortie_contract::contract(contract).and_then(|dialect| dialect.defaults().type_of(agent));
    known.map_or_else(|| neutral::line(agent), |known| known.name.to_owned())
}
