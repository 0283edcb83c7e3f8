//! Stream of one reply: from the bytes of its body to a complete reply, under the idle timeout.

use std::time::Duration;

use reqwest::Response;
use sortie_protocol::Reply;
use tokio::time::{Instant, timeout_at};

use super::http_clients::deepest_cause;
use super::idle_timeout::IdleTimeout;
use super::sse::SseParser;
use crate::wire::{Decoder, MAX_CALLS, Observe, Progress, too_many_calls};
use crate::{ErrorKind, ModelError, ModelEvent};

/// Size limit of a reply's body: several times the largest output of any model, framing included.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// Time to wait for the end of a body after its last event: a fully read connection can serve the next call.
const READ_OUT: Duration = Duration::from_millis(20);

/// Reads the body to its end.
///
/// However the body ends, the decoder decides whether the reply is complete; a transport error only explains why it is
/// not.
pub(crate) async fn read_reply(
    response: &mut Response,
    decoder: &mut dyn Decoder,
    mut idle: IdleTimeout,
    observe: Observe<'_>,
) -> Result<Reply, ModelError> {
    let mut parser = SseParser::new();
    let (mut weight, mut calls) = (0, 0);
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
            let mut counted = |event: ModelEvent<'_>| {
                calls += usize::from(matches!(event, ModelEvent::CallBegan { .. }));
                observe(event);
            };
            let progress = decoder.feed(&data, &mut counted)?;
            if calls > MAX_CALLS {
                return Err(too_many_calls());
            }
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
    let message = format!("the connection broke before the reply was complete: {}", deepest_cause(error));
    ModelError::new(ErrorKind::Cut, message)
}

async fn read_out(response: &mut Response) {
    let until = Instant::now() + READ_OUT;
    while let Ok(Ok(Some(_))) = timeout_at(until, response.chunk()).await {}
}
