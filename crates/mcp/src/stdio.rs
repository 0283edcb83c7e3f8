//! One session over a pair of streams, a message a line: what `sortie mcp` speaks with the program that started it.
//!
//! A line that is too long, or no message, is answered with an error and passed over. Whoever does not read its answers
//! is not read from. It does not open the streams; the command line does, and keeps everything else off them.

mod lines;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ServerHandler, ServiceExt as _};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use self::lines::{Line, Lines};

/// The longest message: a prompt of the usual bound takes six times its bytes at most, and has little beside it.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// Messages that may wait to be written before nothing more is read.
const MAX_UNWRITTEN: usize = 256;

/// Serves one session until the host is gone or `stop` is cancelled. `gone` is cancelled as soon as the input has ended,
/// before anything else; a server that watches it ends its calls then.
pub async fn serve<S: ServerHandler>(
    new_server: impl Fn() -> S,
    (input, output): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    gone: CancellationToken,
    stop: CancellationToken,
) {
    let streams = Streams {
        lines: Arc::new(Mutex::new(Lines::new(input, MAX_LINE_BYTES))),
        output: Arc::new(Mutex::new(output)),
        unwritten: Arc::default(),
        gone: gone.clone(),
    };
    while !gone.is_cancelled() && !stop.is_cancelled() {
        match new_server().serve_with_ct(streams.clone(), stop.clone()).await {
            // Until the end of the session, whatever it was.
            Ok(session) => drop(session.waiting().await),
            // Something came before the session was opened that opens none, and needs no answer.
            Err(ServerInitializeError::ExpectedInitializeRequest(_) | ServerInitializeError::InitializeFailed(_)) => {
                continue;
            }
            Err(_) => {}
        }
        gone.cancel();
    }
}

/// Both streams. Clones are the same ones: what a session that came to nothing leaves is the next one's.
struct Streams<R, W> {
    lines: Arc<Mutex<Lines<R>>>,
    output: Arc<Mutex<W>>,
    unwritten: Arc<Unwritten>,
    gone: CancellationToken,
}

impl<R, W> Clone for Streams<R, W> {
    fn clone(&self) -> Self {
        let Self { lines, output, unwritten, gone } = self;
        let (lines, output, unwritten) = (Arc::clone(lines), Arc::clone(output), Arc::clone(unwritten));
        Self { lines, output, unwritten, gone: gone.clone() }
    }
}

/// How many messages wait to be written.
#[derive(Default)]
struct Unwritten {
    count: AtomicUsize,
    fewer: Notify,
}

impl Unwritten {
    /// Waits until there is room. Only one does.
    async fn has_room(&self) {
        while self.count.load(Ordering::Acquire) >= MAX_UNWRITTEN {
            self.fewer.notified().await;
        }
    }

    fn one_more(self: &Arc<Self>) -> OneUnwritten {
        self.count.fetch_add(1, Ordering::AcqRel);
        OneUnwritten(Arc::clone(self))
    }
}

/// A message that waits to be written, as long as this is kept.
struct OneUnwritten(Arc<Unwritten>);

impl Drop for OneUnwritten {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.fewer.notify_one();
    }
}

impl<R, W> Transport<RoleServer> for Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, waits) = (Arc::clone(&self.output), self.unwritten.one_more());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            drop(message);
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await?;
            drop(waits);
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.unwritten.has_room().await;
            let read = Arc::clone(&self.lines).lock().await.next(read_message).await;
            let Refusal { error, id } = match read {
                Ok(Line::Read(Ok(message))) => return Some(message),
                Ok(Line::Read(Err(refusal))) => refusal,
                Ok(Line::TooLong) => {
                    let text = format!("a message has more than {MAX_LINE_BYTES} bytes; it was passed over");
                    Refusal { error: ErrorData::invalid_request(text, None), id: None }
                }
                // What cannot be read any more is as good as ended.
                Ok(Line::End) | Err(_) => {
                    self.gone.cancel();
                    return None;
                }
            };
            // Not here: a host that does not read must not keep us from seeing that it is gone.
            tokio::spawn(self.send(JsonRpcMessage::error(error, id)));
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.flush().await
    }
}

/// A message, or what to answer to a line that is none.
fn read_message(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Refusal> {
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
        let text = format!("the line is no JSON: {error}");
        return Err(Refusal { error: ErrorData::new(ErrorCode::PARSE_ERROR, text, None), id: None });
    }
    let id = serde_json::from_slice(line).ok().and_then(|Named { id }| id);
    let text = format!("{error}; send one message of JSON-RPC 2.0 a line, and no batches");
    Err(Refusal { error: ErrorData::invalid_request(text, None), id })
}

/// What is answered to a line that is no message, and to which id, if it has one.
struct Refusal {
    error: ErrorData,
    id: Option<RequestId>,
}

/// As much of a message as an answer needs.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: Option<RequestId>,
}
