//! The task tree: starting, resuming, delegating to and ending tasks.

pub(crate) mod delegate;
pub(crate) mod delivery;
pub(crate) mod observers;
pub(crate) mod relatives;
pub(crate) mod result_cache;
pub(crate) mod resume;
pub(crate) mod running;
pub(crate) mod scope;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod task;
