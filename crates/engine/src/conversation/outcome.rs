//! What a task has done so far, and the one truthful ending made from it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use sortie_llm::ErrorKind;
use sortie_protocol::{
    CallId, Failure, FailureCode, Job, Limit, Reply, Status, StopReason, TaskOutcome, ToolCount, Usage,
};
use tokio::time::Instant;

use crate::budget::account::Account;
use crate::budget::usage_trust::Believed;
use crate::conversation::replay::Past;

/// Running totals of one task. What it spends and changes is booked in its account.
pub(crate) struct Tally {
    started: Instant,
    /// What it has worked in other processes and in legs before this one.
    worked_before: Duration,
    turns: u32,
    calls: BTreeMap<String, u64>,
    notices: Vec<String>,
    pub(crate) call_ids: HashSet<CallId>,
    /// Answers of this leg that were sent back.
    pub(crate) answers_returned: u32,
    believed: Believed,
    /// What has cut the first answer of this leg that is not whole.
    pub(crate) cut_by: Option<Limit>,
    pub(crate) account: Arc<Account>,
}

/// Whether a reply ends the turn with words that are not all.
pub(crate) fn is_cut_answer(reply: &Reply) -> bool {
    reply.stop == StopReason::Length && reply.calls().next().is_none()
}

/// How a leg ends, before it is told with all its figures.
#[derive(Debug)]
pub(crate) enum Ending {
    Completed {
        text: String,
    },
    Limited {
        limit: Limit,
        text: String,
    },
    /// The deadline passed before there was any text.
    OutOfTime,
    Failed {
        failure: Failure,
        text: String,
    },
    Cancelled {
        text: String,
    },
}

impl Tally {
    pub(crate) fn new(account: &Arc<Account>, notices: &[String]) -> Self {
        Self {
            started: Instant::now(),
            worked_before: Duration::ZERO,
            turns: 0,
            calls: BTreeMap::new(),
            notices: notices.to_vec(),
            call_ids: HashSet::new(),
            answers_returned: 0,
            believed: Believed::default(),
            cut_by: None,
            account: Arc::clone(account),
        }
    }

    /// Goes on counting where a task stood.
    pub(crate) fn resumed(account: &Arc<Account>, past: &Past, notices: &[String]) -> Self {
        let deeds = &past.deeds;
        let mut tally = Self {
            worked_before: past.worked.known(),
            turns: deeds.turns,
            calls: deeds.calls.clone(),
            call_ids: deeds.call_ids.clone(),
            answers_returned: deeds.answers_returned,
            believed: deeds.believed,
            // A limit that had lowered the cap is not on record.
            cut_by: deeds.has_cut_answer.then_some(Limit::Output),
            ..Self::new(account, &deeds.notices)
        };
        for notice in notices {
            tally.notice(notice);
        }
        tally
    }

    /// Notes by what a reply was cut, if that is its fate.
    pub(crate) fn see_cut(&mut self, reply: &Reply, limit: Limit) {
        if is_cut_answer(reply) {
            self.cut_by.get_or_insert(limit);
        }
    }

    /// Model calls answered so far.
    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// A reply has come. What it used is booked by whoever held something back for it.
    pub(crate) fn add_reply(&mut self, reply: &Reply) {
        self.turns += 1;
        self.believed.hear(reply);
    }

    pub(crate) fn add_call(&mut self, tool: &str, files_changed: &[String]) {
        self.account.spend(Usage { tool_calls: 1, ..Usage::default() });
        *self.calls.entry(tool.to_owned()).or_default() += 1;
        self.account.change(files_changed);
    }

    /// Notes what should be known, once.
    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    /// Tells the ending with everything that was spent and done.
    pub(crate) fn outcome(mut self, job: &Job, ending: Ending) -> TaskOutcome {
        let (ending, structured) = self.weigh(job, ending);
        self.notices.extend(self.believed.notice());
        // How long was too long, for contracts that say so.
        let ran_out = matches!(ending, Ending::OutOfTime | Ending::Limited { limit: Limit::Deadline, .. });
        let deadline_ms = job.config.limits.timeout.filter(|_| ran_out).map(|limit| limit.as_millis() as u64);
        let (status, reason, error, text) = match ending {
            Ending::Completed { text } => (Status::Completed, None, None, text),
            Ending::Limited { limit, text } => (Status::Partial, Some(limit), None, text),
            Ending::OutOfTime => {
                let message = "the time ran out before there was any text; a longer timeout gives it more";
                (Status::Failed, None, Some(Failure::new(FailureCode::Timeout, message)), String::new())
            }
            Ending::Failed { failure, text } => (Status::Failed, None, Some(failure), text),
            Ending::Cancelled { text } => (Status::Cancelled, None, None, text),
        };
        let worked = self.worked_before + self.started.elapsed();
        let usage = Usage { duration_ms: worked.as_millis() as u64, ..self.account.spent() };
        TaskOutcome {
            task_id: job.task,
            agent: job.config.agent.clone(),
            status,
            reason,
            text,
            structured,
            files_changed: self.account.files_changed(),
            tool_summary: self.calls.into_iter().map(|(tool, count)| ToolCount { tool, count }).collect(),
            model: job.config.model.clone(),
            usage,
            truncated: false,
            full_text_path: None,
            truncation: None,
            deadline_ms,
            notices: self.notices,
            error,
            given_again: None,
        }
    }
}

impl Ending {
    /// A limit that leaves no text is not a result: out of time, it is a failure that says so.
    pub(crate) fn limited(limit: Limit, text: String) -> Self {
        if !text.trim().is_empty() {
            return Self::Limited { limit, text };
        }
        if limit == Limit::Deadline {
            return Self::OutOfTime;
        }
        let message = format!("the {limit} limit was reached before any report");
        let failure = Failure::new(FailureCode::Limit(limit), message);
        Self::Failed { failure, text }
    }

    /// Whether no reply came because the conversation does not fit the model's window.
    pub(crate) fn is_too_long(&self) -> bool {
        match self {
            Self::Limited { limit, .. } => *limit == Limit::Context,
            Self::Failed { failure, .. } => failure.code == ErrorKind::ContextLength.code(),
            Self::Completed { .. } | Self::OutOfTime | Self::Cancelled { .. } => false,
        }
    }

    /// A model that could not answer. What it had written, now or before, is kept as `text`.
    pub(crate) fn model_failed((kind, message): (ErrorKind, String), text: String) -> Self {
        match kind {
            ErrorKind::Stalled if !text.trim().is_empty() => Self::limited(Limit::Stalled, text),
            ErrorKind::Stalled => Self::Failed { failure: Failure::new(FailureCode::Timeout, message), text },
            ErrorKind::ContextLength if !text.trim().is_empty() => Self::Limited { limit: Limit::Context, text },
            kind => Self::Failed { failure: Failure::new(kind.code(), message), text },
        }
    }
}
