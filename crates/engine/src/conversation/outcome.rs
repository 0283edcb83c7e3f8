//! The one truthful ending of a leg, made from the task's record and from what is not on record.

use std::sync::Arc;
use std::time::Duration;

use sortie_llm::ErrorKind;
use sortie_protocol::{Failure, FailureCode, Limit, Status, TaskOutcome, ToolCount, Usage};
use tokio::time::Instant;

use crate::budget::account::Account;
use crate::conversation::schema_answer::weigh;
use crate::conversation::task_record::TaskRecord;

/// What an outcome tells that is not on record: the time of this process, the account with all that was booked below
/// the task, and notices that only the outcome has.
pub(crate) struct Unrecorded {
    started: Instant,
    /// What the task has worked in other processes and in legs before this one.
    worked_before: Duration,
    pub(crate) account: Arc<Account>,
    notices: Vec<String>,
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

impl Unrecorded {
    /// Starts the clock of a task that has worked so long before.
    pub(crate) fn start(account: &Arc<Account>, worked_before: Duration) -> Self {
        Self { started: Instant::now(), worked_before, account: Arc::clone(account), notices: Vec::new() }
    }

    /// Adds what the outcome should say of how the task began.
    pub(crate) fn noting(mut self, notices: impl IntoIterator<Item = String>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// Adds what the outcome should say.
    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        self.notices.push(text.into());
    }
}

impl Ending {
    /// Tells the ending with everything that was spent and done.
    pub(crate) fn outcome(self, record: &TaskRecord, unrecorded: Unrecorded) -> TaskOutcome {
        let Unrecorded { started, worked_before, account, notices: more } = unrecorded;
        let (job, totals) = (&record.job, &record.totals);
        let weighed = weigh(job, self);
        let mut notices = totals.notices.clone();
        for notice in more.into_iter().chain(weighed.notice) {
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
        notices.extend(totals.usage_trust.notice());
        // How long was too long, for contracts that say so.
        let ran_out = matches!(weighed.ending, Self::OutOfTime | Self::Limited { limit: Limit::Deadline, .. });
        let deadline_ms = job.config.limits.timeout.filter(|_| ran_out).map(|limit| limit.as_millis() as u64);
        let (status, reason, error, text) = match weighed.ending {
            Self::Completed { text } => (Status::Completed, None, None, text),
            Self::Limited { limit, text } => (Status::Partial, Some(limit), None, text),
            Self::OutOfTime => {
                let message = "the time ran out before there was any text; a longer timeout gives it more";
                (Status::Failed, None, Some(Failure::new(FailureCode::Timeout, message)), String::new())
            }
            Self::Failed { failure, text } => (Status::Failed, None, Some(failure), text),
            Self::Cancelled { text } => (Status::Cancelled, None, None, text),
        };
        let worked = worked_before + started.elapsed();
        let counted = totals.calls.iter().map(|(tool, count)| ToolCount { tool: tool.clone(), count: *count });
        TaskOutcome {
            task_id: job.task,
            agent: job.config.agent.clone(),
            status,
            reason,
            text,
            structured: weighed.value,
            files_changed: account.files_changed(),
            tool_summary: counted.collect(),
            model: job.config.model.clone(),
            usage: Usage { duration_ms: worked.as_millis() as u64, ..account.spent() },
            truncated: false,
            full_text_path: None,
            truncation: None,
            deadline_ms,
            notices,
            error,
            given_again: None,
        }
    }

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

    /// A model that could not answer. What it had written, now or before, is kept as `text`.
    pub(crate) fn model_failed(kind: ErrorKind, message: String, text: String) -> Self {
        match kind {
            ErrorKind::Stalled if !text.trim().is_empty() => Self::limited(Limit::Stalled, text),
            ErrorKind::ContextLength if !text.trim().is_empty() => Self::Limited { limit: Limit::Context, text },
            kind => Self::Failed { failure: Self::failure_of_model(kind, message), text },
        }
    }

    /// The failure of a model that could not answer.
    pub(crate) fn failure_of_model(kind: ErrorKind, message: String) -> Failure {
        match kind {
            ErrorKind::Stalled => Failure::new(FailureCode::Timeout, message),
            kind => Failure::new(kind.code(), message),
        }
    }
}
