//! A task of the journal in memory.

use crate::port::{Position, TaskHeader};
use crate::tasks::owner::Owner;
use crate::tasks::progress::{Origin, Progress};

#[derive(Debug)]
pub(super) struct Task {
    pub(super) origin: Origin,
    pub(super) progress: Progress,
    /// Positions of its events in the log.
    pub(super) events: Vec<Position>,
}

impl Task {
    pub(super) fn header(&self) -> TaskHeader {
        self.origin.clone().header(&self.progress, Owner::is_alive)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.progress.status.is_some()
    }
}
