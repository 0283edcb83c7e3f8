//! Delivery of an in-memory reply: streamed and complete, or as the error that its fault stands for.

use std::future::pending;
use std::time::Duration;

use sortie_llm::{ErrorKind, ModelError, ModelEvent};
use sortie_protocol::{Part, Reply, Usage};

use crate::pieces::pieces;
use crate::script::{Fault, ScriptedReply, StatusFault};

type Observer<'a> = &'a mut (dyn FnMut(ModelEvent<'_>) + Send);

/// Bytes of text per piece of a slow reply.
const DRIP_BYTES: usize = 16;

pub(super) async fn deliver(
    scripted: &ScriptedReply,
    reply: Reply,
    observe: Observer<'_>,
) -> Result<Reply, ModelError> {
    let whole = reply.text();
    let half = whole.len() / 2;
    // Scripted usage is reported like Anthropic's: the input at the start, the output at the end.
    let used = scripted.usage.map(|usage| Usage { output_tokens: 0, ..usage });
    let streams = !matches!(scripted.fault, Some(Fault::Silence | Fault::Status(_)));
    if let Some(used) = used.filter(|_| streams) {
        observe(ModelEvent::Used(used));
    }
    let broken = |observe, kind, bytes, message: &str| {
        let error = break_off(observe, kind, &whole, bytes, message);
        Err(ModelError { usage: Box::new(used.unwrap_or_default()), ..error })
    };
    match &scripted.fault {
        None | Some(Fault::Empty | Fault::TruncatedArguments) => {
            stream(&reply.parts, scripted.chunk, Duration::ZERO, observe).await;
            Ok(reply)
        }
        Some(Fault::SlowDrip { ms }) => {
            let pace = Duration::from_millis(*ms);
            stream(&reply.parts, scripted.chunk.or(Some(DRIP_BYTES)), pace, observe).await;
            Ok(reply)
        }
        Some(Fault::Silence) => pending().await,
        Some(Fault::Status(fault)) => Err(status_error(fault)),
        Some(Fault::CutAfter(bytes)) => broken(observe, ErrorKind::Cut, *bytes, "the stream was cut"),
        Some(Fault::EndAfter(bytes)) => {
            broken(observe, ErrorKind::Cut, *bytes, "the stream ended without its end mark")
        }
        Some(Fault::StallAfter(bytes)) => broken(observe, ErrorKind::Stalled, *bytes, "no content for too long"),
        Some(Fault::KeepAlivesOnly) => broken(observe, ErrorKind::Stalled, 0, "nothing but keep-alives"),
        Some(Fault::Garbage) => {
            broken(observe, ErrorKind::Garbage, half, "the stream brought something that is not JSON")
        }
        Some(Fault::OverloadedMidStream) => broken(observe, ErrorKind::Overloaded, half, "the provider is overloaded"),
    }
}

async fn stream(parts: &[Part], chunk: Option<usize>, pace: Duration, observe: Observer<'_>) {
    for part in parts {
        match part {
            Part::Text { text } => {
                for piece in pieces(text, chunk.unwrap_or(text.len())) {
                    observe(ModelEvent::Text(piece));
                    if !pace.is_zero() {
                        tokio::time::sleep(pace).await;
                    }
                }
            }
            Part::Reasoning(reasoning) => observe(ModelEvent::Reasoning(reasoning.item["text"].as_str().unwrap_or(""))),
            Part::Call(call) => observe(ModelEvent::CallBegan { tool: &call.tool }),
        }
    }
}

/// Streams the start of the text and returns the error that follows.
fn break_off(observe: Observer<'_>, kind: ErrorKind, whole: &str, bytes: usize, message: &str) -> ModelError {
    let partial = &whole[..whole.floor_char_boundary(bytes)];
    if !partial.is_empty() {
        observe(ModelEvent::Text(partial));
    }
    ModelError { partial: partial.to_owned(), ..ModelError::new(kind, format!("{message} (scripted)")) }
}

fn status_error(fault: &StatusFault) -> ModelError {
    let message = fault.message.clone().unwrap_or_else(|| format!("the provider answered {} (scripted)", fault.code));
    let seconds = fault.retry_after.as_deref().and_then(|text| text.parse().ok());
    ModelError {
        status: Some(fault.code),
        retry_after: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        ..ModelError::new(status_kind(fault), message)
    }
}

fn status_kind(fault: &StatusFault) -> ErrorKind {
    let message = fault.message.as_deref().unwrap_or_default();
    match fault.code {
        401 | 403 => ErrorKind::Auth,
        404 => ErrorKind::NotFound,
        429 => ErrorKind::RateLimited,
        503 | 529 => ErrorKind::Overloaded,
        500.. => ErrorKind::Server,
        _ if message.contains("prompt is too long") || message.contains("context length") => ErrorKind::ContextLength,
        _ => ErrorKind::BadRequest,
    }
}
