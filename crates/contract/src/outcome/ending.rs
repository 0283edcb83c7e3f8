//! Endings of a task as contracts distinguish them, with the wording that they share.

use sortie_protocol::{Limit, Status, TaskId, TaskOutcome};

use crate::outcome::cause::Cause;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending<'a> {
    Completed,
    /// A limit other than time ended it, or the model has no answer; the outcome's text is everything so far.
    Limited(Limit),
    /// The deadline passed, or the model went silent and `cause` says how. There may be text.
    TimedOut {
        after_ms: u64,
        cause: Option<&'a str>,
    },
    Cancelled,
    /// Its process was told to stop, and a resume continues it.
    Interrupted(TaskId),
    Failed {
        cause: Cause,
        message: &'a str,
    },
}

impl<'a> Ending<'a> {
    pub(crate) fn of(outcome: &'a TaskOutcome) -> Self {
        let error = outcome.error.as_ref();
        match (outcome.status, outcome.reason) {
            (Status::Completed, _) => Self::Completed,
            (Status::Cancelled, _) => Self::Cancelled,
            (Status::Interrupted, _) => Self::Interrupted(outcome.task_id),
            (Status::Partial, Some(Limit::Deadline | Limit::Stalled)) => timed_out(outcome),
            (Status::Partial, Some(limit)) => Self::Limited(limit),
            (Status::Partial | Status::Failed | Status::Rejected, _) => match error.map(Cause::of) {
                Some(Cause::Timeout) => timed_out(outcome),
                // A limit without any text is still a limit.
                Some(Cause::Limit(limit)) => Self::Limited(limit),
                cause => Self::Failed {
                    cause: cause.unwrap_or(Cause::Breakdown),
                    message: error.map_or("ended without saying why", |error| &error.message),
                },
            },
        }
    }

    /// Reason why the report is incomplete; `None` if it is complete.
    pub(crate) fn shortfall(&self) -> Option<String> {
        Some(match self {
            Self::Completed => return None,
            Self::Limited(Limit::NoAnswer) => "the model has no answer".to_owned(),
            Self::Limited(limit) => format!("{} before the work was done", reached(*limit)),
            Self::TimedOut { after_ms, cause: None } => format!("timed out after {after_ms}ms"),
            Self::TimedOut { after_ms, cause: Some(cause) } => format!("timed out after {after_ms}ms: {cause}"),
            Self::Cancelled => "cancelled before it was done".to_owned(),
            Self::Interrupted(task) => {
                format!("interrupted before it was done; `sortie resume {task}` continues it")
            }
            Self::Failed { message, .. } => (*message).to_owned(),
        })
    }
}

/// Reports the time limit, or for a model that went silent, the time until then.
fn timed_out(outcome: &TaskOutcome) -> Ending<'_> {
    let cause = outcome.error.as_ref().map(|error| error.message.as_str()).filter(|_| outcome.deadline_ms.is_none());
    Ending::TimedOut { after_ms: outcome.deadline_ms.unwrap_or(outcome.usage.duration_ms), cause }
}

fn reached(limit: Limit) -> &'static str {
    match limit {
        Limit::Turns => "the turn limit was reached",
        Limit::Tokens => "the token limit was reached",
        Limit::Cost => "the cost limit was reached",
        Limit::Deadline | Limit::Stalled => "the time ran out",
        Limit::Context => "the context window was full",
        Limit::Output => "the reply ran into the cap on one reply",
        Limit::Loop => "the same calls were repeated",
        Limit::NoAnswer => "the model had no answer",
    }
}

/// Counts the calls of the task itself, without those of its descendants.
pub(crate) fn own_calls(outcome: &TaskOutcome) -> u64 {
    outcome.tool_summary.iter().map(|tool| tool.count).fold(0, u64::saturating_add)
}

/// Counts the calls of the task itself that were refused.
pub(crate) fn refused_calls(outcome: &TaskOutcome) -> u64 {
    outcome.refused.iter().map(|refused| refused.count).fold(0, u64::saturating_add)
}
