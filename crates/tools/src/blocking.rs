//! Work that blocks, away from the threads that run tasks, with a bound on its time and an ear for cancellation.

use std::time::{Duration, Instant};

use sortie_protocol::ToolOutput;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::port::CallContext;

/// The longest that one call works.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Searches that run at once. Each uses several threads and some memory; more of them would only slow each other down.
static SEARCH_SLOTS: Semaphore = Semaphore::const_new(8);

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
    fn new(cancel: CancellationToken) -> Self {
        Self { cancel, deadline: Instant::now() + MAX_TIME }
    }

    /// One whose time is over.
    #[cfg(test)]
    pub(crate) fn expired() -> Self {
        Self { cancel: CancellationToken::new(), deadline: Instant::now() }
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

/// Runs a short piece of blocking work. Returns at once when the call is cancelled; the work ends soon after.
pub(crate) async fn run<F>(context: CallContext<'_>, work: F) -> ToolOutput
where
    F: FnOnce(&Stop) -> ToolOutput + Send + 'static,
{
    // Also cancelled when this future is dropped, so that no work goes on for a call that nobody waits for.
    let cancel = context.cancel.child_token();
    let _on_drop = cancel.clone().drop_guard();
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => cancelled(),
        joined = tokio::task::spawn_blocking(move || work(&Stop::new(cancel))) => match joined {
            Ok(output) => output,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => cancelled(),
            },
        },
    }
}

/// Like [`run`], for work that searches trees of files with several threads: waits for its turn first.
pub(crate) async fn run_search<F>(context: CallContext<'_>, work: F) -> ToolOutput
where
    F: FnOnce(&Stop) -> ToolOutput + Send + 'static,
{
    let slot = tokio::select! {
        biased;
        () = context.cancel.cancelled() => return cancelled(),
        slot = SEARCH_SLOTS.acquire() => slot,
    };
    run(context, move |stop| {
        let output = work(stop);
        drop(slot);
        output
    })
    .await
}

fn cancelled() -> ToolOutput {
    ToolOutput::failure("cancelled before it finished")
}
