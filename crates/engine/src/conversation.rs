//! The record of a task, live or read back from its log, with the conversation, the totals and the outcome made from
//! it.

pub(crate) mod history;
pub(crate) mod inherited;
pub(crate) mod live_record;
pub(crate) mod load_task;
pub(crate) mod loop_guard;
pub(crate) mod outcome;
pub(crate) mod request_size;
pub(crate) mod schema_answer;
pub(crate) mod task_record;
pub(crate) mod unanswered_calls;
