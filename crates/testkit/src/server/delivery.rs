//! Sending of a response byte by byte as scripted: in chunks, slowly, cut, stalled, or never ending.

use std::io;
use std::io::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::connection::Connection;
use super::http::reason;
use crate::script::{Fault, ScriptedReply};

/// Fate of the connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    KeepOpen,
    Close,
}

/// A complete response, not yet sent.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Sent in HTTP chunks, like a stream; otherwise the length is announced.
    chunked: bool,
    /// Sent after the body, repeatedly, until the client disconnects.
    cycle: Vec<String>,
}

/// Plan for sending the body of a response.
struct Plan {
    /// Number of bytes of the body to send.
    bytes: usize,
    chunk: Option<usize>,
    pace: Duration,
    ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Orderly,
    Broken,
    Stalled,
}

impl Response {
    fn new(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, headers: Vec::new(), body, chunked: false, cycle: Vec::new() }
    }

    pub(super) fn document(status: u16, document: &Value) -> Self {
        Self::new(status, "application/json", document.to_string().into_bytes())
    }

    pub(super) fn stream(events: &[String]) -> Self {
        let body = events.concat().into_bytes();
        Self { chunked: true, ..Self::new(200, "text/event-stream; charset=utf-8", body) }
    }

    /// Output of a broken proxy in place of a response.
    pub(super) fn garbage() -> Self {
        Self::new(200, "application/json", b"<html><body>it works</body></html>".to_vec())
    }

    #[must_use]
    pub(super) fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds signs of life that repeat after the body.
    #[must_use]
    pub(super) fn repeating(self, cycle: Vec<String>) -> Self {
        Self { cycle, ..self }
    }

    /// Sends it at once, without any fault.
    pub(super) async fn send(self, connection: &mut Connection) -> io::Result<Flow> {
        let bytes = self.body.len();
        send_as(connection, &self, &Plan { bytes, chunk: None, pace: Duration::ZERO, ending: Ending::Orderly }).await
    }

    fn head(&self, length: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::with_capacity(256 + length);
        write!(head, "HTTP/1.1 {} {}\r\ncontent-type: {}\r\n", self.status, reason(self.status), self.content_type)?;
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n")?;
        }
        if self.chunked {
            head.extend_from_slice(b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
        } else {
            write!(head, "content-length: {length}\r\n\r\n")?;
        }
        Ok(head)
    }

    fn frame(&self, buffer: &mut Vec<u8>, piece: &[u8]) -> io::Result<()> {
        if !self.chunked {
            buffer.extend_from_slice(piece);
        } else if !piece.is_empty() {
            write!(buffer, "{:x}\r\n", piece.len())?;
            buffer.extend_from_slice(piece);
            buffer.extend_from_slice(b"\r\n");
        }
        Ok(())
    }
}

/// Sends a response as its script wants.
pub(super) async fn deliver(
    connection: &mut Connection,
    response: Response,
    scripted: &ScriptedReply,
) -> io::Result<Flow> {
    if scripted.fault == Some(Fault::Silence) {
        return connection.closed().await.map(|never| match never {});
    }
    send_as(connection, &response, &plan(&response, scripted)).await
}

fn plan(response: &Response, scripted: &ScriptedReply) -> Plan {
    const DRIP_BYTES: usize = 16;
    let whole = response.body.len();
    let chunk = scripted.chunk.map(|bytes| bytes.max(1));
    let ordinary = Plan { bytes: whole, chunk, pace: Duration::ZERO, ending: Ending::Orderly };
    match scripted.fault {
        Some(Fault::CutAfter(bytes)) => Plan { bytes: bytes.min(whole), ending: Ending::Broken, ..ordinary },
        Some(Fault::EndAfter(bytes)) => Plan { bytes: bytes.min(whole), ..ordinary },
        Some(Fault::StallAfter(bytes)) => Plan { bytes: bytes.min(whole), ending: Ending::Stalled, ..ordinary },
        Some(Fault::KeepAlivesOnly) => Plan { ending: Ending::Stalled, ..ordinary },
        Some(Fault::SlowDrip { ms }) => {
            Plan { chunk: chunk.or(Some(DRIP_BYTES)), pace: Duration::from_millis(ms), ..ordinary }
        }
        _ => ordinary,
    }
}

async fn send_as(connection: &mut Connection, response: &Response, plan: &Plan) -> io::Result<Flow> {
    let orderly = plan.ending == Ending::Orderly;
    let body = &response.body[..plan.bytes];
    // A proper end after fewer bytes announces only those; a break or a stall announces the whole.
    let mut buffer = response.head(if orderly { body.len() } else { response.body.len() })?;
    match plan.chunk {
        None => response.frame(&mut buffer, body)?,
        Some(bytes) => {
            connection.send(&buffer).await?;
            for piece in body.chunks(bytes) {
                buffer.clear();
                response.frame(&mut buffer, piece)?;
                connection.send(&buffer).await?;
                connection.unless_closed(pause(plan.pace)).await?;
            }
            buffer.clear();
        }
    }
    if orderly && response.chunked {
        buffer.extend_from_slice(b"0\r\n\r\n");
    }
    connection.send(&buffer).await?;
    match plan.ending {
        Ending::Orderly => Ok(Flow::KeepOpen),
        Ending::Broken => Ok(Flow::Close),
        Ending::Stalled => stall(connection, response).await,
    }
}

/// Lets the data sent so far go out before the next piece.
async fn pause(pace: Duration) {
    if pace.is_zero() {
        tokio::task::yield_now().await;
    } else {
        tokio::time::sleep(pace).await;
    }
}

/// Keeps the connection open, with signs of life if there are any, until the client disconnects.
async fn stall(connection: &mut Connection, response: &Response) -> io::Result<Flow> {
    const PACE: Duration = Duration::from_millis(20);
    let mut buffer = Vec::new();
    for event in response.cycle.iter().cycle() {
        connection.unless_closed(tokio::time::sleep(PACE)).await?;
        buffer.clear();
        response.frame(&mut buffer, event.as_bytes())?;
        connection.send(&buffer).await?;
    }
    connection.closed().await.map(|never| match never {})
}
