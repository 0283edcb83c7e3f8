//! The outside world as the engine sees it: time, ids, approvals, hooks, blocking work and redaction.

pub(crate) mod approval;
pub(crate) mod approval_queue;
pub(crate) mod background;
pub(crate) mod blocking;
pub(crate) mod clock;
pub(crate) mod failure;
pub(crate) mod hooks;
pub(crate) mod redaction;
pub(crate) mod small_files;
pub(crate) mod text;
