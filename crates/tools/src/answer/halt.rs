//! `Stop` and `Halt`: when a call must end early, and why.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// Maximum duration of a call, including the wait for its turn.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(20);

/// Tells a piece of work when it must end.
pub(crate) struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
}

/// The reason why work ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Cancelled,
    TimedOut,
}

impl Stop {
    /// A stop at the deadline, or earlier by a cancellation.
    pub(crate) fn at(deadline: Instant, cancel: CancellationToken) -> Self {
        Self { cancel, deadline }
    }

    /// A stop after some time.
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
