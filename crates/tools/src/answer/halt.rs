//! When a call must end early, and why: it was cancelled, or its time is over.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// The longest that one call works, waiting for its turn included.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(20);

/// What a piece of work looks at to learn that it must end.
pub(crate) struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
}

/// Why work ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Cancelled,
    TimedOut,
}

impl Stop {
    /// One whose time is over at a moment, or earlier by a cancellation.
    pub(crate) fn at(deadline: Instant, cancel: CancellationToken) -> Self {
        Self { cancel, deadline }
    }

    /// One whose time is over in a while.
    #[cfg(test)]
    pub(crate) fn after(time: Duration) -> Self {
        Self { cancel: CancellationToken::new(), deadline: Instant::now() + time }
    }

    pub(crate) fn halt(&self) -> Option<Halt> {
        if self.cancel.is_cancelled() {
            Some(Halt::Cancelled)
        } else if Instant::now() >= self.deadline {
            Some(Halt::TimedOut)
        } else {
            None
        }
    }
}

impl Halt {
    pub(crate) fn note(self) -> String {
        match self {
            Self::Cancelled => "cancelled before the end".to_owned(),
            Self::TimedOut => format!("stopped after {} s; narrow the request", MAX_TIME.as_secs()),
        }
    }
}
