//! The task tree: starting, resuming, delegating to and ending tasks.

pub(crate) mod background_children;
pub(crate) mod close_open_calls;
pub(crate) mod delegate;
pub(crate) mod delivery;
pub(crate) mod end_interrupted;
pub(crate) mod follow_up;
pub(crate) mod lookup;
pub(crate) mod missed_messages;
pub(crate) mod observers;
pub(crate) mod reattach;
pub(crate) mod relatives;
pub(crate) mod result_cache;
pub(crate) mod resume;
pub(crate) mod resume_grant;
pub(crate) mod resume_limits;
pub(crate) mod resume_together;
pub(crate) mod running;
pub(crate) mod state;
pub(crate) mod task;
