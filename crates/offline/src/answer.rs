//! Answers of each kind of agent: the next calls, a report, or a merger of several reports.

mod angles;
mod explorer;
mod file_outline;
mod main_agent;
mod merge_reports;
mod next_calls;
mod overview;
mod project_facts;
mod reply;
mod report;
mod summary;

use serde_json::Value;

pub use reply::{MODEL_ID, reply};

/// Content of a turn before it becomes a reply: text, or calls.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Text(String),
    /// Text that says that there is no answer: the request was declined, or nothing was found.
    Unanswered(String),
    Calls {
        remark: String,
        calls: Vec<PlannedCall>,
    },
}

/// A call to be made.
#[derive(Debug, Clone, PartialEq)]
struct PlannedCall {
    tool: String,
    arguments: Value,
}

impl PlannedCall {
    fn of(tool: &str, arguments: Value) -> Self {
        Self { tool: tool.to_owned(), arguments }
    }
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the text with `change` made to it; calls stay.
    fn map_text(self, change: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(change(&text)),
            Self::Unanswered(text) => Self::Unanswered(change(&text)),
            calls @ Self::Calls { .. } => calls,
        }
    }

    /// Marks the text as no answer, with the reason in front; calls stay.
    fn declined(self, reason: &str) -> Self {
        match self {
            Self::Text(text) | Self::Unanswered(text) => Self::Unanswered(format!("{reason}\n\n{text}")),
            calls @ Self::Calls { .. } => calls,
        }
    }

    fn calls(calls: Vec<PlannedCall>) -> Self {
        Self::Calls { remark: String::new(), calls }
    }
}
