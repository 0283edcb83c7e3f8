//! The end of what this process has written, for callers that wait for more.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::port::Position;

#[derive(Debug, Default)]
pub(crate) struct WrittenEnd {
    end: Mutex<Position>,
    moved: Condvar,
}

impl WrittenEnd {
    /// Announces that everything up to `end` can be read.
    pub(crate) fn reach(&self, end: Position) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
        self.moved.notify_all();
    }

    /// Blocks until the end is after `after`, or until the time is up.
    pub(crate) fn wait_beyond(&self, after: Position, at_most: Duration) {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // Neither a poisoned lock nor a timeout is an error here: the caller reads whatever there is.
        drop(self.moved.wait_timeout_while(end, at_most, |end| *end <= after));
    }
}
