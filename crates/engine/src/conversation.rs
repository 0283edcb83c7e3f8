//! The conversation of a task with its totals and its outcome, live or read back from the log.

pub(crate) mod history;
pub(crate) mod load_task;
pub(crate) mod loop_guard;
pub(crate) mod outcome;
pub(crate) mod replay;
pub(crate) mod request_size;
pub(crate) mod schema_answer;
pub(crate) mod unanswered_calls;
