//! Idle timeout of a call: the time without content after which it counts as stalled.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::wire::Progress;
use crate::{ErrorKind, ModelError};

/// How long accounting may follow a reply that is already whole.
const ACCOUNTING: Duration = Duration::from_secs(2);

/// As good as never, and still a time that a clock can hold.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(24 * 365);

/// How many times the idle timeout a model may reason in silence, as long as its provider gives signs of life.
const SILENT_REASONING: u32 = 5;

/// How often a wait looks at the clock. Who looks up this much later than it meant to was stopped meanwhile, by a
/// signal or with the whole machine.
const LOOK: Duration = Duration::from_secs(1);
const STOOD_STILL: Duration = Duration::from_secs(2);

/// Time without content. Signs of life do not count, because what a call waits for is content; only while a model is
/// known to reason do they prolong the wait, and not for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleTimeout {
    timeout: Duration,
    /// When there was content last, or the call began.
    since: Instant,
    until: Instant,
}

impl IdleTimeout {
    pub(crate) fn start(timeout: Duration) -> Self {
        let (timeout, since) = (timeout.min(LONGEST_TIMEOUT), Instant::now());
        Self { timeout, since, until: since + timeout }
    }

    /// Waits for something, as long as the time is not over. Time in which this process itself stood still does not
    /// count.
    pub(crate) async fn wait<T>(&mut self, something: impl Future<Output = T>) -> Option<T> {
        let mut something = pin!(something);
        loop {
            let look = (Instant::now() + LOOK).min(self.until);
            let come = timeout_at(look, something.as_mut()).await.ok();
            let late = Instant::now().saturating_duration_since(look);
            if late >= STOOD_STILL {
                (self.since, self.until) = (self.since + late, self.until + late);
            } else if come.is_none() && look == self.until {
                return None;
            }
            if come.is_some() {
                return come;
            }
        }
    }

    pub(crate) fn stalled(&self) -> ModelError {
        let seconds = self.until.duration_since(self.since).as_secs_f64();
        let message = format!("the model sent no content for {seconds} s; if it is only slow, raise the idle timeout");
        ModelError::new(ErrorKind::Stalled, message)
    }

    pub(super) fn note(&mut self, progress: Progress, now: Instant) {
        match progress {
            Progress::Quiet | Progress::Done => {}
            Progress::Reasoning => self.until = (now + self.timeout).min(self.since + self.timeout * SILENT_REASONING),
            Progress::Content => (self.since, self.until) = (now, now + self.timeout),
            Progress::Whole => self.until = self.until.min(now + ACCOUNTING),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    /// How long after its beginning a call stalls that brought this, each so many seconds after the beginning.
    fn stalls_after(progress: &[(u64, Progress)]) -> u64 {
        let mut idle = IdleTimeout::start(TIMEOUT);
        let begin = idle.since;
        for (seconds, progress) in progress {
            idle.note(*progress, begin + Duration::from_secs(*seconds));
        }
        idle.until.duration_since(begin).as_secs()
    }

    #[test]
    fn only_content_and_reasoning_prolong_the_wait_and_silent_reasoning_not_for_ever() {
        use Progress::{Content, Quiet, Reasoning};
        for (progress, expected) in [
            (&[][..], 60),
            (&[(30, Quiet), (50, Quiet)], 60),
            (&[(30, Content), (80, Quiet)], 90),
            (&[(30, Content), (80, Reasoning)], 140),
            (&[(50, Reasoning), (100, Reasoning), (150, Reasoning), (200, Reasoning)], 260),
            (&[(50, Reasoning), (100, Reasoning), (150, Reasoning), (200, Reasoning), (250, Reasoning)], 300),
            (&[(50, Reasoning), (100, Content), (150, Reasoning)], 210),
        ] {
            assert_eq!(stalls_after(progress), expected, "{progress:?}");
        }
    }

    /// How long after its beginning a call is over that brings nothing, if the process stands still for so many
    /// seconds, 10 seconds after the beginning.
    async fn over_after(still: u64) -> u64 {
        let (mut idle, begin) = (IdleTimeout::start(TIMEOUT), Instant::now());
        let waiting = tokio::spawn(async move { idle.wait(std::future::pending::<()>()).await });
        tokio::task::yield_now().await;
        for _ in 0..21 {
            tokio::time::advance(Duration::from_millis(500)).await;
        }
        tokio::time::advance(Duration::from_secs(still)).await;
        assert_eq!(waiting.await.expect("it does not panic"), None);
        begin.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn who_stood_still_has_not_waited_meanwhile() {
        assert_eq!(over_after(0).await, 60);
        assert_eq!(over_after(1).await, 60, "a machine may be busy");
        // From the look that it missed on.
        assert_eq!(over_after(30).await, 60 + 29);
        assert_eq!(over_after(100_000).await, 60 + 99_999);
    }

    #[test]
    fn a_stall_says_how_long_there_was_nothing_and_what_to_raise() {
        let mut idle = IdleTimeout::start(TIMEOUT);
        let said = |idle: &IdleTimeout| idle.stalled().message;
        assert!(said(&idle).starts_with("the model sent no content for 60 s; "));
        idle.note(Progress::Reasoning, idle.since + TIMEOUT * 9);
        assert_eq!(said(&idle), "the model sent no content for 300 s; if it is only slow, raise the idle timeout");
    }
}
