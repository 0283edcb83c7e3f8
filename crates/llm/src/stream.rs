//! One answer's body, from bytes to a whole reply, under the idle timer.

use std::time::Duration;

use reqwest::Response;
use sortie_protocol::Reply;
use tokio::time::{Instant, timeout_at};

use crate::http::deepest_cause;
use crate::sse::SseParser;
use crate::wire::{Decoder, Observe, Progress};
use crate::{ErrorKind, ModelError};

/// The most that one reply may weigh on the wire: several times the largest output of any model, framing included.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// How long accounting may follow a reply that is already whole.
const ACCOUNTING: Duration = Duration::from_secs(2);

/// How long to wait for the end of a body that has said its last word: a read-out connection can serve the next call.
const READ_OUT: Duration = Duration::from_millis(20);

/// As good as never, and still a time that a clock can hold.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(24 * 365);

/// Time without content. Signs of life do not count; what a call waits for is content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleTimer {
    timeout: Duration,
    until: Instant,
}

impl IdleTimer {
    pub(crate) fn start(timeout: Duration) -> Self {
        let timeout = timeout.min(LONGEST_TIMEOUT);
        Self { timeout, until: Instant::now() + timeout }
    }

    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    pub(crate) fn stalled(&self) -> ModelError {
        let seconds = self.timeout.as_secs_f64();
        let message = format!(
            "the model sent no content for {seconds} s; if it is only slow, raise `idle_timeout_seconds` in [llm]"
        );
        ModelError::new(ErrorKind::Stalled, message)
    }

    fn note(&mut self, progress: Progress) {
        match progress {
            Progress::Quiet | Progress::Done => {}
            Progress::Content => self.until = Instant::now() + self.timeout,
            Progress::Whole => self.until = self.until.min(Instant::now() + ACCOUNTING),
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
    loop {
        let piece = match timeout_at(idle.until(), response.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => return decoder.finish(),
            Ok(Err(error)) => return decoder.finish().map_err(|_| broken(&error)),
            Err(_) => return decoder.finish().map_err(|_| idle.stalled()),
        };
        weight += piece.len();
        if weight > MAX_BODY_BYTES {
            let message = format!("the reply is larger than {MAX_BODY_BYTES} bytes");
            return Err(ModelError::new(ErrorKind::TooLarge, message));
        }
        let events = parser.feed(&piece).map_err(|error| ModelError::new(ErrorKind::Garbage, error.to_string()))?;
        for data in events {
            let progress = decoder.feed(&data, observe)?;
            idle.note(progress);
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
