//! The end of a command: its cause, and the resources used.

use std::path::PathBuf;
use std::time::Duration;

use crate::process::OutputCount;

/// The end of a command, and of everything that it started.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// Processor time of all its processes.
    pub cpu: Duration,
    /// Peak memory of its largest process, in bytes.
    pub max_memory: u64,
    /// Names of the system calls that the walls refused, sorted.
    pub refused_calls: Vec<String>,
    /// Hidden and protected paths that somebody else moved, removed or replaced meanwhile, sorted. Each was covered
    /// again as soon as it existed; until then, a moment, it may have stood open.
    pub replaced: Vec<PathBuf>,
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
    /// A [`Stopper`](crate::process::Stopper) stopped it.
    Cancelled,
    /// Its keeper was killed by someone else; how far it got is unknown.
    Lost,
}
