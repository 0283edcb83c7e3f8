//! The session over a pair of streams, one message per line, with the program that started `sortie mcp`.
//!
//! A line that is too long or no message is answered with an error and skipped. A host that does not read its replies
//! gets no further service, and after a while counts as gone. The command line opens the streams and keeps all other
//! output off them.

mod lines;
mod outgoing;
mod read_ahead;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ServerHandler, ServiceExt as _};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use self::lines::{Line, Lines};
use self::outgoing::Outgoing;
use self::read_ahead::{ReadAhead, read_on};
use crate::session::arrivals::Arrivals;
use crate::session::open_requests::OpenRequests;
use crate::session::time_limits::LAST_WORDS;

/// Longest message: a prompt of the usual bound takes at most six times its bytes, and little comes on top.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// The streams of a host: its output, which is our input, and its input.
#[derive(Debug)]
pub struct HostStreams<I, O> {
    pub input: I,
    pub output: O,
}

/// Serves one session until the host is gone or `stop` is cancelled. `gone` is cancelled as soon as the input ends or
/// nobody reads the output, before anything else. A server that watches it then ends its calls. Cancel `gone` together
/// with `stop`; otherwise the last replies have the full write time.
pub async fn serve<S: ServerHandler>(
    new_server: impl Fn() -> S,
    host: HostStreams<impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static>,
    gone: CancellationToken,
    stop: CancellationToken,
) {
    let HostStreams { input, output } = host;
    let (sender, arrivals) = mpsc::unbounded_channel();
    let streams = Streams {
        arrivals: Arc::new(Mutex::new(arrivals)),
        outgoing: Outgoing::new(output, gone.clone()),
        calls: OpenRequests::new(usize::MAX),
        arrived: Arrivals::new(),
    };
    let reading = async {
        read_on(Lines::new(input, MAX_LINE_BYTES), &sender).await;
        // Before the session sees the end of its input, and ends its calls.
        gone.cancel();
        drop(sender);
        std::future::pending::<Infallible>().await
    };
    let sessions = async {
        loop {
            match new_server().serve_with_ct(streams.clone(), stop.clone()).await {
                // Until the end of the session, however it ends.
                Ok(session) => return drop(session.waiting().await),
                // A first message that does not open the session and needs no reply.
                Err(
                    ServerInitializeError::ExpectedInitializeRequest(_) | ServerInitializeError::InitializeFailed(_),
                ) => {}
                Err(_) => return,
            }
        }
    };
    tokio::select! {
        () = sessions => gone.cancel(),
        never = reading => match never {},
    }
}

/// Both streams. Clones share them: a session that never opened leaves its input to the next one.
struct Streams<W> {
    arrivals: Arc<Mutex<ReadAhead>>,
    outgoing: Outgoing<W>,
    calls: Arc<OpenRequests>,
    arrived: Arc<Arrivals>,
}

impl<W> Clone for Streams<W> {
    fn clone(&self) -> Self {
        let Self { arrivals, outgoing, calls, arrived } = self;
        let (calls, arrived) = (Arc::clone(calls), Arc::clone(arrived));
        Self { arrivals: Arc::clone(arrivals), outgoing: outgoing.clone(), calls, arrived }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Streams<W> {
    /// Returns the next line; `None` if there is none, or nobody would read the reply.
    async fn next_line(&self) -> Option<Line<Vec<u8>>> {
        let next = async {
            self.outgoing.has_room().await;
            self.arrivals.lock().await.recv().await
        };
        tokio::select! {
            biased;
            () = self.outgoing.is_unheard() => None,
            arrival = next => arrival.map(|arrival| arrival.line),
        }
    }

    /// Reads the message on a line, if it is acceptable.
    fn take(&self, line: Line<Vec<u8>>) -> Result<RxJsonRpcMessage<RoleServer>, Refusal> {
        let Line::Read(line) = line else {
            let text = format!("a message has more than {MAX_LINE_BYTES} bytes; it was skipped");
            return Err(Refusal::new(ErrorData::invalid_request(text, None), None));
        };
        let mut message = read_message(&line)?;
        if let JsonRpcMessage::Request(request) = &mut message {
            let id = &request.id;
            let refused = |error| Refusal::new(ErrorData::invalid_request(error, None), Some(id.clone()));
            self.calls.begin(id.clone()).map_err(|error| refused(error.to_string()))?.pass_on();
            if let ClientRequest::CallToolRequest(call) = &mut request.request {
                call.extensions.insert(self.arrived.next());
            }
        }
        self.calls.note_received(&message);
        Ok(message)
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Streams<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.calls.note_sent(&message);
        self.outgoing.write(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.next_line().await?;
            match self.take(line) {
                Ok(message) => return Some(message),
                // Not awaited: a host that does not read must not keep us from noticing that it is gone.
                Err(Refusal { error, id }) => {
                    tokio::spawn(self.outgoing.write(JsonRpcMessage::error(*error, id)));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Anything not written by then is dropped.
        tokio::time::timeout(LAST_WORDS, self.outgoing.settled()).await.ok();
        Ok(())
    }
}

/// Parses a message, or returns the reply to an invalid line.
fn read_message(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Refusal> {
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
        let text = format!("the line is not JSON: {error}");
        return Err(Refusal::new(ErrorData::new(ErrorCode::PARSE_ERROR, text, None), None));
    }
    let id = serde_json::from_slice(line).ok().and_then(|Named { id }| id);
    let text = format!("{error}; send one JSON-RPC 2.0 message per line, and no batches");
    Err(Refusal::new(ErrorData::invalid_request(text, None), id))
}

/// The reply to a line that is not a message, and the id that it answers, if any.
struct Refusal {
    error: Box<ErrorData>,
    id: Option<RequestId>,
}

impl Refusal {
    fn new(error: ErrorData, id: Option<RequestId>) -> Self {
        Self { error: Box::new(error), id }
    }
}

/// The part of a message that a reply needs.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: Option<RequestId>,
}
