//! The inbox of a running task: messages, questions and the reports of its children.

pub(crate) mod inbox;
pub(crate) mod inbox_order;
pub(crate) mod inbox_record;
pub(crate) mod mail_text;
pub(crate) mod questions;
pub(crate) mod report_cap;
pub(crate) mod report_target;
pub(crate) mod running_task;
pub(crate) mod running_tasks;
