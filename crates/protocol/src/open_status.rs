//! Words for the status of a task that has not ended, beside those of [`Status`](crate::Status).

/// It waits for a slot.
pub const WAITING: &str = "waiting";
/// A process runs it.
pub const RUNNING: &str = "running";
/// The process that ran it is gone.
pub const INTERRUPTED: &str = "interrupted";
