//! Words for the status of a task that has not ended.

pub(crate) const WAITING: &str = "waiting";

pub(crate) const RUNNING: &str = "running";

pub(crate) const INTERRUPTED: &str = "interrupted";
