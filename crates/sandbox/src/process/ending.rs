//! The end of a command: how it came, and what was used.

use std::time::Duration;

use crate::process::OutputCount;

/// The end of a command, and of everything that it started.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// Processor time of all of its processes.
    pub cpu: Duration,
    /// The most memory that one of its processes had, in bytes.
    pub max_memory: u64,
    pub output: OutputCount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    /// The deadline came first.
    TimedOut,
    /// It was stopped with a [`Stopper`](crate::process::Stopper).
    Cancelled,
    /// Its keeper was killed by someone else; how far it came is unknown.
    Lost,
}
