//! One answer's body, from bytes to a whole reply, under the idle timer.

use std::pin::pin;
use std::time::Duration;

use reqwest::Response;
use sortie_protocol::Reply;
use tokio::time::{Instant, timeout_at};

use crate::http::deepest_cause;
use crate::sse::SseParser;
use crate::wire::{Decoder, Observe, Progress};
use crate::{ErrorKind, ModelError, ModelEvent};

/// The most that one reply may weigh on the wire: several times the largest output of any model, framing included.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// How long accounting may follow a reply that is already whole.
const ACCOUNTING: Duration = Duration::from_secs(2);

/// How long to wait for the end of a body that has said its last word: a read-out connection can serve the next call.
const READ_OUT: Duration = Duration::from_millis(20);

/// As good as never, and still a time that a clock can hold.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(24 * 365);

/// How many times the idle timeout a model may reason in silence, as long as its provider gives signs of life.
const SILENT_REASONING: u32 = 5;

/// How often a wait looks at the clock. Who looks up this much later than it meant to was stopped meanwhile, by a signal or
/// with the whole machine.
const LOOK: Duration = Duration::from_secs(1);
const STOOD_STILL: Duration = Duration::from_secs(2);

/// Time without content. Signs of life do not count, because what a call waits for is content; only while a model is
/// known to reason do they prolong the wait, and not for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleTimer {
    timeout: Duration,
    /// When there was content last, or the call began.
    since: Instant,
    until: Instant,
}

impl IdleTimer {
    pub(crate) fn start(timeout: Duration) -> Self {
        let (timeout, since) = (timeout.min(LONGEST_TIMEOUT), Instant::now());
        Self { timeout, since, until: since + timeout }
    }

    /// Waits for something, as long as the time is not over. Time in which this process itself stood still does not count.
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

    fn note(&mut self, progress: Progress, now: Instant) {
        match progress {
            Progress::Quiet | Progress::Done => {}
            Progress::Reasoning => self.until = (now + self.timeout).min(self.since + self.timeout * SILENT_REASONING),
            Progress::Content => (self.since, self.until) = (now, now + self.timeout),
            Progress::Whole => self.until = self.until.min(now + ACCOUNTING),
        }
    }
}

/// Reads the body to its end.
///
/// However the body ends, the decoder says whether the reply is whole: an error on the way only explains why it is not.
pub(crate) async fn read_reply(
    response: &mut Response,
    decoder: &mut dyn Decoder,
    mut idle: IdleTimer,
    observe: Observe<'_>,
) -> Result<Reply, ModelError> {
    let mut parser = SseParser::new();
    let mut weight = 0;
    let mut used = decoder.usage();
    loop {
        let piece = match idle.wait(response.chunk()).await {
            Some(Ok(Some(piece))) => piece,
            Some(Ok(None)) => return decoder.finish(),
            Some(Err(error)) => return decoder.finish().map_err(|_| broken(&error)),
            None => return decoder.finish().map_err(|_| idle.stalled()),
        };
        weight += piece.len();
        if weight > MAX_BODY_BYTES {
            let message = format!("the reply is larger than {MAX_BODY_BYTES} bytes");
            return Err(ModelError::new(ErrorKind::TooLarge, message));
        }
        let events = parser.feed(&piece).map_err(|error| ModelError::new(ErrorKind::Garbage, error.to_string()))?;
        for data in events {
            let progress = decoder.feed(&data, observe)?;
            idle.note(progress, Instant::now());
            if decoder.usage() != used {
                used = decoder.usage();
                observe(ModelEvent::Used(used));
            }
            if progress == Progress::Done {
                read_out(response).await;
                return decoder.finish();
            }
        }
    }
}

fn broken(error: &reqwest::Error) -> ModelError {
    let message = format!("the connection broke before the reply was whole: {}", deepest_cause(error));
    ModelError::new(ErrorKind::Cut, message)
}

async fn read_out(response: &mut Response) {
    let until = Instant::now() + READ_OUT;
    while let Ok(Ok(Some(_))) = timeout_at(until, response.chunk()).await {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    /// How long after its beginning a call stalls that brought this, each so many seconds after the beginning.
    fn stalls_after(progress: &[(u64, Progress)]) -> u64 {
        let mut idle = IdleTimer::start(TIMEOUT);
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

    /// How long after its beginning a call is over that brings nothing, if the process stands still for so many seconds,
    /// 10 seconds after the beginning.
    async fn over_after(still: u64) -> u64 {
        let (mut idle, begin) = (IdleTimer::start(TIMEOUT), Instant::now());
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
        let mut idle = IdleTimer::start(TIMEOUT);
        let said = |idle: &IdleTimer| idle.stalled().message;
        assert!(said(&idle).starts_with("the model sent no content for 60 s; "));
        idle.note(Progress::Reasoning, idle.since + TIMEOUT * 9);
        assert_eq!(said(&idle), "the model sent no content for 300 s; if it is only slow, raise the idle timeout");
    }
}
