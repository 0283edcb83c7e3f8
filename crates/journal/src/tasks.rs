//! The state of a task outside its log, and the rules for appends and prunings that every journal follows.

pub(crate) mod append_plan;
pub(crate) mod lost_attempts;
pub(crate) mod owner;
pub(crate) mod progress;
pub(crate) mod prune_evidence;
pub(crate) mod written_end;
