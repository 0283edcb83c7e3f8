//! Status words for a task that has not ended, in addition to [`Status`](crate::Status).

/// It waits for a slot.
pub const WAITING: &str = "waiting";
/// A process runs it.
pub const RUNNING: &str = "running";
/// The process that ran it is gone.
pub const INTERRUPTED: &str = "interrupted";
