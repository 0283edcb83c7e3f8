//! The outcome of a leg, made from the task's record and from what is not on record.

use std::sync::Arc;
use std::time::Duration;

use sortie_llm::ErrorKind;
use sortie_protocol::{Failure, FailureCode, Limit, Status, TaskOutcome, Usage};
use tokio::time::Instant;

use crate::budget::account::Account;
use crate::conversation::schema_answer::weigh;
use crate::conversation::task_record::TaskRecord;

/// Parts of an outcome that are not on record: the time of this process, the account with everything booked below the
/// task, and extra notices.
pub(crate) struct Unrecorded {
    started: Instant,
    /// Working time in other processes and earlier legs.
    worked_before: Duration,
    pub(crate) account: Arc<Account>,
    notices: Vec<String>,
}

/// Ending of a leg, before its figures are added.
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
    /// Not an ending on record: the process was told to stop.
    Interrupted {
        text: String,
    },
}

impl Unrecorded {
    /// Starts the clock of a task with this much working time before.
    pub(crate) fn start(account: &Arc<Account>, worked_before: Duration) -> Self {
        Self { started: Instant::now(), worked_before, account: Arc::clone(account), notices: Vec::new() }
    }

    /// Adds notices about how the task began.
    pub(crate) fn noting(mut self, notices: impl IntoIterator<Item = String>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// Adds a notice for the outcome.
    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        self.notices.push(text.into());
    }
}

impl Ending {
    /// Returns the outcome with all figures.
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
        notices.extend(totals.usage_trust.notices());
        // Contracts that report the timeout need its length.
        let ran_out = matches!(weighed.ending, Self::OutOfTime | Self::Limited { limit: Limit::Deadline, .. });
        let deadline_ms = job.config.limits.timeout.filter(|_| ran_out).map(|limit| limit.as_millis() as u64);
        let (status, reason, error, text) = match weighed.ending {
            Self::Completed { text } => (Status::Completed, None, None, text),
            Self::Limited { limit, text } => (Status::Partial, Some(limit), None, text),
            Self::OutOfTime => {
                let message = "the time ran out before there was any text; raise the timeout";
                (Status::Failed, None, Some(Failure::new(FailureCode::Timeout, message)), String::new())
            }
            Self::Failed { failure, text } => (Status::Failed, None, Some(failure), text),
            Self::Cancelled { text } => (Status::Cancelled, None, None, text),
            Self::Interrupted { text } => (Status::Interrupted, None, None, text),
        };
        let worked = worked_before + started.elapsed();
        let mut outcome = TaskOutcome {
            task_id: job.task,
            agent: job.config.agent.clone(),
            status,
            reason,
            text,
            structured: weighed.value,
            files_changed: account.files_changed(),
            tool_summary: totals.tool_summary(),
            failed: totals.failed.clone(),
            refused: totals.refused.clone(),
            model: job.config.model.clone(),
            usage: Usage { duration_ms: worked.as_millis() as u64, ..account.spent() },
            truncated: false,
            full_text_path: None,
            truncation: None,
            deadline_ms,
            notices,
            error,
            given_again: None,
        };
        outcome.notices.extend(outcome.fruitless());
        outcome
    }

    /// Returns the ending at a limit. Without any text it is a failure, not a result.
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

    /// Returns the ending after a model error, with the text that the model had written so far.
    pub(crate) fn model_failed(kind: ErrorKind, message: String, text: String) -> Self {
        match kind {
            ErrorKind::Stalled if !text.trim().is_empty() => Self::limited(Limit::Stalled, text),
            ErrorKind::ContextLength if !text.trim().is_empty() => Self::Limited { limit: Limit::Context, text },
            kind => Self::Failed { failure: Self::failure_of_model(kind, message), text },
        }
    }

    /// Returns the failure for a model error.
    pub(crate) fn failure_of_model(kind: ErrorKind, message: String) -> Failure {
        match kind {
            ErrorKind::Stalled => Failure::new(FailureCode::Timeout, message),
            kind => Failure::new(kind.code(), message),
        }
    }
}
