//! Ports to the rest of the program: other tasks, a small model, progress, and the reach of commands.
//!
//! The engine implements them. This room also writes the lines that models read about other tasks.

pub(crate) mod delegation;
pub(crate) mod future;
pub(crate) mod lender;
pub(crate) mod message;
pub(crate) mod outcome_digest;
pub(crate) mod progress;
pub(crate) mod relatives;
pub(crate) mod shell_reach;
pub(crate) mod side_model;
pub(crate) mod task_line;
