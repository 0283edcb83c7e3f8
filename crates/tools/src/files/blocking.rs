//! Blocking work, off the threads that run tasks, with a time limit and cancellation.

use std::time::Duration;

use sortie_protocol::{Fault, ToolOutput};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::answer::halt::{Halt, MAX_TIME, Stop};

/// Extra time for work to notice the deadline and report its findings. After that the call is answered without it.
const GRACE: Duration = Duration::from_millis(500);

/// Concurrent searches. Each uses several threads and some memory; more would only slow each other down.
static SEARCH_SLOTS: Semaphore = Semaphore::const_new(8);

/// Runs a short piece of blocking work. Returns at once if the call is cancelled, and soon after its time is over. The
/// work itself ends when it next checks its [`Stop`].
pub(crate) async fn run<F>(cancel: &CancellationToken, work: F) -> ToolOutput
where
    F: FnOnce(&Stop) -> ToolOutput + Send + 'static,
{
    run_until(Instant::now() + MAX_TIME, cancel, work).await
}

/// Like [`run`], for work that searches trees of files with several threads: waits for its turn first.
///
/// Work that outlives its call keeps its turn until it ends, so that the number of threads stays bounded.
pub(crate) async fn run_search<F>(cancel: &CancellationToken, work: F) -> ToolOutput
where
    F: FnOnce(&Stop) -> ToolOutput + Send + 'static,
{
    let deadline = Instant::now() + MAX_TIME;
    let slot = tokio::select! {
        biased;
        () = cancel.cancelled() => return cancelled(),
        slot = timeout_at(deadline, SEARCH_SLOTS.acquire()) => slot,
    };
    let Ok(slot) = slot else {
        let waited = MAX_TIME.as_secs();
        let text = format!("not run: other searches took all of the {waited} s it had; try again");
        return ToolOutput::failure(text).because(Fault::TimedOut);
    };
    run_until(deadline, cancel, move |stop| {
        let output = work(stop);
        drop(slot);
        output
    })
    .await
}

/// Like [`run`], for work with an effect. It always waits for the work, so that the answer reports what was done. The
/// work checks its [`Stop`] before the effect, which takes bounded time.
pub(crate) async fn run_to_end<F>(cancel: &CancellationToken, work: F) -> ToolOutput
where
    F: FnOnce(&Stop) -> ToolOutput + Send + 'static,
{
    let own = cancel.child_token();
    let _on_drop = own.clone().drop_guard();
    let stop = Stop::at((Instant::now() + MAX_TIME).into_std(), own);
    finished(tokio::task::spawn_blocking(move || work(&stop)).await)
}

async fn run_until<F>(deadline: Instant, cancel: &CancellationToken, work: F) -> ToolOutput
where
    F: FnOnce(&Stop) -> ToolOutput + Send + 'static,
{
    // Also cancelled when this future is dropped, so that no work runs on for a call that nobody waits for.
    let own = cancel.child_token();
    let _on_drop = own.clone().drop_guard();
    let stop = Stop::at(deadline.into_std(), own);
    tokio::select! {
        biased;
        () = cancel.cancelled() => cancelled(),
        joined = tokio::task::spawn_blocking(move || work(&stop)) => finished(joined),
        () = sleep_until(deadline + GRACE) => ToolOutput::failure(Halt::TimedOut.note()).because(Fault::TimedOut),
    }
}

/// Returns the output of finished work and propagates its panic.
fn finished(joined: Result<ToolOutput, tokio::task::JoinError>) -> ToolOutput {
    joined.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => cancelled(),
    })
}

pub(crate) fn cancelled() -> ToolOutput {
    ToolOutput::failure("cancelled before it finished")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    async fn search(work: impl FnOnce() + Send + 'static) -> String {
        let work = move |_: &Stop| {
            work();
            ToolOutput::done("found", "found")
        };
        run_search(&CancellationToken::new(), work).await.for_model
    }

    /// A single test, because the slots belong to the whole process.
    #[tokio::test(start_paused = true)]
    async fn a_search_that_is_stuck_or_waits_for_its_turn_ends_in_time() {
        let n_slots = SEARCH_SLOTS.available_permits();
        let (release, released) = mpsc::channel::<()>();
        let (started, has_started) = tokio::sync::oneshot::channel();
        let stuck = search(move || {
            started.send(()).unwrap();
            released.recv_timeout(Duration::from_secs(10)).ok();
        });
        let time_passes = async {
            has_started.await.unwrap();
            tokio::time::advance(MAX_TIME + GRACE).await;
        };
        let (answer, ()) = tokio::join!(stuck, time_passes);
        assert_eq!(answer, "stopped after 20 s; narrow the request");
        assert_eq!(SEARCH_SLOTS.available_permits(), n_slots - 1, "it keeps its turn for as long as it works");
        drop(release);
        let all = SEARCH_SLOTS.acquire_many(u32::try_from(n_slots).unwrap()).await.unwrap();
        let answer = search(|| unreachable!("there is no turn")).await;
        assert_eq!(answer, "not run: other searches took all of the 20 s it had; try again");
        drop(all);
        assert_eq!(search(|| ()).await, "found");
    }

    #[tokio::test]
    async fn work_with_an_effect_is_awaited_and_reports_its_own_result() {
        let cancel = CancellationToken::new();
        let (started, has_started) = tokio::sync::oneshot::channel();
        let working = run_to_end(&cancel, move |stop| {
            started.send(()).unwrap();
            while stop.halt() != Some(Halt::Cancelled) {
                std::thread::yield_now();
            }
            ToolOutput::done("it is done", "")
        });
        let cancelling = async {
            has_started.await.unwrap();
            cancel.cancel();
        };
        let (output, ()) = tokio::join!(working, cancelling);
        assert_eq!(output.for_model, "it is done");
    }
}
