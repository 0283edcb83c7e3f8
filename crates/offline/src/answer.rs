//! Answers of each kind of agent: the next calls, a report, or a merger of several reports.

mod angles;
mod explorer;
mod main_agent;
mod merge_reports;
mod next_calls;
mod overview;
mod reply;
mod report;
mod summary;

use serde_json::Value;

pub use reply::{MODEL_ID, reply};

/// Content of a turn before it becomes a reply: text, or calls.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Text(String),
    Calls { remark: String, calls: Vec<PlannedCall> },
}

/// A call to be made.
#[derive(Debug, Clone, PartialEq)]
struct PlannedCall {
    tool: &'static str,
    arguments: Value,
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn calls(calls: Vec<PlannedCall>) -> Self {
        Self::Calls { remark: String::new(), calls }
    }
}
