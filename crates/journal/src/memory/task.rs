//! A task as the journal in memory holds it.

use crate::port::{Position, TaskHeader};
use crate::tasks::owner::Owner;
use crate::tasks::progress::{Origin, Progress};

#[derive(Debug)]
pub(super) struct Task {
    pub(super) origin: Origin,
    pub(super) progress: Progress,
    /// Where its events are in the log.
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
