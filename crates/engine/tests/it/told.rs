//! Messages and reports that the tasks of a tree have read, according to their logs. The rules: each report and each
//! message is read once, by its recipient, and each call has one output.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sortie_journal::{Journal as _, TaskState};
use sortie_protocol::{CallId, Event, Fact, ReportMark, Status, TaskId};
use sortie_testkit::Seen;

use crate::relic::Relic;

/// Everything that the tasks of a tree have read.
pub(crate) struct Told {
    root: TaskId,
    logs: Vec<(TaskId, TaskState, Vec<Event>)>,
}

impl Told {
    pub(crate) fn of(journal: &Relic, root: TaskId) -> Self {
        let tree = journal.tree(root).expect("the task is there");
        let log = |task: TaskId| journal.read(task).expect("the task is there");
        let logs = tree.into_iter().map(|header| (header.task_id, header.state, log(header.task_id)));
        Self { root, logs: logs.collect() }
    }

    /// Counts how often a task read a text, in its mail and in the outputs of its calls.
    fn count(log: &[Event], text: &str) -> usize {
        log.iter().map(|event| told(&event.fact).matches(text).count()).sum()
    }

    /// Counts how often a task read the report of a child, without asking for it again. It reads a report in its mail,
    /// or as the output of the waiting call or of another call.
    fn count_report(log: &[Event], child: TaskId, text: &str) -> usize {
        let is_own = |call: &CallId| {
            let started = |fact: &Fact| matches!(fact, Fact::ChildStarted { call: by, child: who, .. } if by == call && *who == child);
            log.iter().any(|event| started(&event.fact))
        };
        let is_news = |fact: &&Fact| match fact {
            Fact::CallFinished { output, .. } => {
                is_own(&output.call) || output.output.mail.reports.iter().any(|mark| mark.child == child)
            }
            _ => true,
        };
        log.iter().map(|event| &event.fact).filter(is_news).map(|fact| told(fact).matches(text).count()).sum()
    }

    /// Returns the holder of a report: the task in whose log its end comes last, or its adopter.
    fn holder(&self, report: (TaskId, u32)) -> Option<TaskId> {
        let has = |fact: &Fact| match fact {
            Fact::ChildEnded { child, child_leg, .. } => (*child, *child_leg) == report,
            Fact::ChildAdopted { child, ended_leg: Some(leg) } => (*child, *leg) == report,
            _ => false,
        };
        // The tree has parents before their children, and reports go up.
        self.logs.iter().find(|(_, _, log)| log.iter().any(|event| has(&event.fact))).map(|(task, ..)| *task)
    }

    /// Number of model replies to any of them.
    pub(crate) fn n_replies(&self) -> u64 {
        let facts = self.logs.iter().flat_map(|(_, _, log)| log).map(|event| &event.fact);
        facts.filter(|fact| matches!(fact, Fact::ModelReplied { .. })).count() as u64
    }

    /// Tasks that have not ended.
    pub(crate) fn open(&self) -> Vec<TaskId> {
        let open = self.logs.iter().filter(|(_, state, _)| !matches!(state, TaskState::Ended(_)));
        open.map(|(task, ..)| *task).collect()
    }

    /// Returns all broken rules once all have ended. `all_read`: no task was stopped before it could read its mail.
    pub(crate) fn breaches(&self, all_read: bool) -> Vec<String> {
        let mut breaches: Vec<String> = self.open().iter().map(|task| format!("{task} has not ended")).collect();
        breaches.extend(self.sent_too_often());
        for (task, state, log) in &self.logs {
            let mut messages: HashMap<&str, usize> = HashMap::new();
            let mut outputs: HashMap<&str, usize> = HashMap::new();
            for event in log {
                match &event.fact {
                    Fact::TaskEnded { outcome } if *task != self.root => {
                        breaches.extend(self.report_breach((*task, event.leg), &outcome.text, all_read));
                    }
                    Fact::MessageArrived { text, .. } => {
                        // A question is read as open, or as one no longer open.
                        let words = text.split("waits for your answer").next().unwrap_or(text);
                        *messages.entry(words).or_default() += 1;
                    }
                    Fact::ModelReplied { reply, .. } => {
                        outputs.extend(reply.calls().map(|call| (call.id.0.as_str(), 0)));
                    }
                    Fact::CallFinished { output, .. } => *outputs.entry(&output.call.0).or_default() += 1,
                    _ => {}
                }
            }
            // A failed task reads nothing more.
            let must_read = (all_read || *task == self.root) && *state != TaskState::Ended(Status::Failed);
            for (text, n_came) in messages {
                let n_told = Self::count(log, text);
                if n_told > n_came || (must_read && n_told < n_came) {
                    breaches.push(format!("{task}: {text:?} came {n_came} times and was told {n_told} times"));
                }
            }
            for (call, n_outputs) in outputs.into_iter().filter(|(_, n_outputs)| *n_outputs != 1) {
                breaches.push(format!("{task}: {call} has {n_outputs} outputs"));
            }
        }
        breaches
    }

    /// A report is read once, and only by its holder.
    fn report_breach(&self, report: (TaskId, u32), text: &str, all_read: bool) -> Option<String> {
        let (n_words, n_marks) = self.count_marks(ReportMark { child: report.0, leg: report.1 });
        if n_words != 1 || n_marks > 1 {
            return Some(format!("{report:?} has ended {n_words} times above it, and was read {n_marks} times"));
        }
        // An empty report need not be read.
        let holder = self.holder(report).filter(|_| !text.is_empty())?;
        let told = |(task, _, log): &(TaskId, TaskState, Vec<Event>)| (*task, Self::count_report(log, report.0, text));
        let counts: HashMap<TaskId, usize> = self.logs.iter().map(told).filter(|(_, n_told)| *n_told > 0).collect();
        let is_told = counts == HashMap::from([(holder, 1)]);
        // A stopped task reads it if it is resumed.
        let may_be_unread = !all_read && holder != self.root && counts.is_empty();
        let is_right = is_told || may_be_unread;
        (!is_right).then(|| format!("{text:?} of {report:?} is {holder}'s, and was told {counts:?}"))
    }

    /// Messages that arrived more often than they were sent, either between two turns or as a prompt.
    fn sent_too_often(&self) -> Vec<String> {
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        for event in self.logs.iter().flat_map(|(_, _, log)| log) {
            match &event.fact {
                Fact::ModelReplied { reply, .. } => {
                    for call in reply.calls().filter(|call| call.tool == "SendMessage") {
                        let arguments: Value = serde_json::from_str(&call.arguments).expect("an object");
                        let text = arguments["message"].as_str().expect("a text").to_owned();
                        counts.entry(text).or_default().0 += 1;
                    }
                }
                Fact::MessageArrived { text, .. } | Fact::TaskResumed { prompt: Some(text), .. } => {
                    counts.entry(text.clone()).or_default().1 += 1;
                }
                _ => {}
            }
        }
        let too_often = counts.into_iter().filter(|(_, (n_sent, n_came))| *n_sent > 0 && n_came > n_sent);
        too_often.map(|(text, counts)| format!("{text:?} was sent and has come so often: {counts:?}")).collect()
    }

    /// Number of messages whose senders do not know if they arrived.
    pub(crate) fn n_unsettled(&self) -> usize {
        let mut n_unsettled = 0;
        for (_, _, log) in &self.logs {
            let mut messages = HashSet::new();
            for event in log {
                match &event.fact {
                    Fact::CallStarted { call, .. } if call.tool == "SendMessage" => {
                        messages.insert(&call.id);
                    }
                    Fact::CallFinished { output, .. } if messages.contains(&output.call) => {
                        n_unsettled += usize::from(output.output.for_model.starts_with("unknown: "));
                    }
                    _ => {}
                }
            }
        }
        n_unsettled
    }

    /// Number of logs with the end of a leg, and of marks that its report was read.
    fn count_marks(&self, report: ReportMark) -> (usize, usize) {
        let (mut n_words, mut n_marks) = (0, 0);
        for event in self.logs.iter().flat_map(|(_, _, log)| log) {
            match &event.fact {
                Fact::ChildEnded { child, child_leg, .. } if (*child, *child_leg) == (report.child, report.leg) => {
                    n_words += 1;
                }
                Fact::MailRead { mail, .. } => n_marks += usize::from(mail.reports.contains(&report)),
                Fact::CallFinished { output, .. } => {
                    n_marks += usize::from(output.output.mail.reports.contains(&report));
                }
                _ => {}
            }
        }
        (n_words, n_marks)
    }

    /// Requests whose conversation differs from the log.
    pub(crate) fn unlike(&self, seen: &[Seen]) -> Vec<String> {
        let texts: Vec<&str> = self.logs.iter().flat_map(|(_, _, log)| log).filter_map(mail).collect();
        let mut unlike = Vec::new();
        for request in seen {
            let asked = format!("{:?}", request.messages);
            for text in &texts {
                let quoted = format!("{text:?}");
                if asked.matches(&quoted).count() > 1 {
                    unlike.push(format!("{quoted} was sent twice: {asked}"));
                }
            }
        }
        unlike
    }
}

/// Text that a fact puts into the conversation on behalf of others.
fn told(fact: &Fact) -> &str {
    match fact {
        Fact::MailRead { text, .. } => text,
        Fact::CallFinished { output, .. } => &output.output.for_model,
        _ => "",
    }
}

fn mail(event: &Event) -> Option<&str> {
    match &event.fact {
        Fact::MailRead { text, .. } => Some(text),
        _ => None,
    }
}
