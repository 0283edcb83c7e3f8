//! `Reply`: the proxy's own answer to a request that it refuses, and the graceful end of a connection.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};
use tokio::time::timeout;

use super::dialer::DialError;
use super::request::RequestError;
use super::request_head::HeadError;

/// Time and bytes for draining a client before closing.
const PARTING: Duration = Duration::from_secs(2);
const PARTING_BYTES: u64 = 1 << 20;

/// The proxy's own answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    status: &'static str,
    words: String,
}

impl Reply {
    pub(super) fn too_slow(within: Duration) -> Self {
        let words = format!("the head of the request did not come within {} s", within.as_secs());
        Self { status: "408 Request Timeout", words }
    }

    pub(super) fn no_answer(host: &str) -> Self {
        Self { status: "502 Bad Gateway", words: format!("`{host}` ended the connection without an answer") }
    }

    pub(super) async fn write(&self, client: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let Self { status, words } = self;
        let text = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
             \r\n{words}\n",
            words.len() + 1
        );
        client.write_all(text.as_bytes()).await
    }
}

impl From<HeadError> for Reply {
    fn from(error: HeadError) -> Self {
        let status = match error {
            HeadError::TooLong | HeadError::TooMany => "431 Request Header Fields Too Large",
            _ => "400 Bad Request",
        };
        Self { status, words: error.to_string() }
    }
}

impl From<RequestError> for Reply {
    fn from(error: RequestError) -> Self {
        Self { status: "400 Bad Request", words: error.to_string() }
    }
}

impl From<DialError> for Reply {
    fn from(error: DialError) -> Self {
        let status = if error.is_refusal() { "403 Forbidden" } else { "502 Bad Gateway" };
        Self { status, words: error.to_string() }
    }
}

/// Closes a connection after draining it. Closing with unread data would reset it, and the client could lose data it
/// has not read yet.
pub(super) async fn part(mut client: impl AsyncRead + AsyncWrite + Unpin) {
    if client.shutdown().await.is_ok() {
        // Its result does not matter.
        drop(timeout(PARTING, copy(&mut client.take(PARTING_BYTES), &mut sink())).await);
    }
}
