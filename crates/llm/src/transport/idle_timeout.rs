//! Idle timeout of a call: the time without content after which it counts as stalled.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::wire::Progress;
use crate::{ErrorKind, ModelError};

/// Time allowed for accounting after a complete reply.
const ACCOUNTING: Duration = Duration::from_secs(2);

/// Practically never, but within the range of the clock.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(24 * 365);

/// Number of idle timeouts that a model may reason silently, as long as its provider gives signs of life.
const SILENT_REASONING: u32 = 5;

/// Interval at which a wait checks the clock. A check that comes `STOOD_STILL` late means that the process or the
/// machine was suspended.
const LOOK: Duration = Duration::from_secs(1);
const STOOD_STILL: Duration = Duration::from_secs(2);

/// Time without content. Signs of life alone do not count; only while a model is known to reason do they prolong the
/// wait, and not for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleTimeout {
    timeout: Duration,
    /// Time of the last content, or of the call's start.
    since: Instant,
    until: Instant,
}

impl IdleTimeout {
    pub(crate) fn start(timeout: Duration) -> Self {
        let (timeout, since) = (timeout.min(LONGEST_TIMEOUT), Instant::now());
        Self { timeout, since, until: since + timeout }
    }

    /// Waits for a future until the timeout. Time in which this process was suspended does not count.
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

    /// Seconds from its start after which a call stalls, given its progress at these seconds.
    fn stalls_after(progress: &[(u64, Progress)]) -> u64 {
        let mut idle = IdleTimeout::start(TIMEOUT);
        let begin = idle.since;
        for (seconds, progress) in progress {
            idle.note(*progress, begin + Duration::from_secs(*seconds));
        }
        idle.until.duration_since(begin).as_secs()
    }

    #[test]
    fn only_content_and_reasoning_prolong_the_wait_and_silent_reasoning_has_a_limit() {
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

    /// Seconds after which a call without progress ends, if the process is suspended for `still` seconds, 10 seconds
    /// after the start.
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
    async fn time_in_suspension_does_not_count() {
        assert_eq!(over_after(0).await, 60);
        assert_eq!(over_after(1).await, 60, "a machine may be busy");
        // Counted from the check that it missed.
        assert_eq!(over_after(30).await, 60 + 29);
        assert_eq!(over_after(100_000).await, 60 + 99_999);
    }

    #[test]
    fn a_stall_names_the_time_without_content_and_the_setting_to_raise() {
        let mut idle = IdleTimeout::start(TIMEOUT);
        let said = |idle: &IdleTimeout| idle.stalled().message;
        assert!(said(&idle).starts_with("the model sent no content for 60 s; "));
        idle.note(Progress::Reasoning, idle.since + TIMEOUT * 9);
        assert_eq!(said(&idle), "the model sent no content for 300 s; if it is only slow, raise the idle timeout");
    }
}
