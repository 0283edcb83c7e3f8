//! One plain request to a server, and its answer.

use std::convert::Infallible;
use std::future::pending;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, copy, split};

use super::IDLE;
use super::body;
use super::body::Framing;
use super::idle_stream::IdleStream;

/// The body after a head.
pub(super) struct Body {
    /// Bytes that the client sent together with the head.
    pub(super) rest: Vec<u8>,
    pub(super) framing: Framing,
}

/// The server closed the connection without an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoAnswer;

/// Forwards head and body, and the answer back, until the server ends it or the connection is idle for too long.
pub(super) async fn carry<C, S>(client: &mut C, server: S, head: &[u8], body: Body) -> Result<(), NoAnswer>
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (server, last) = IdleStream::new(server);
    let (from_client, mut to_client) = split(client);
    let (mut from_server, mut to_server) = split(server);
    let sending = async {
        let mut rest = BufReader::new(body.rest.as_slice().chain(from_client));
        let sent = match to_server.write_all(head).await {
            Ok(()) => body::send(body.framing, &mut rest, &mut to_server).await,
            Err(error) => Err(error),
        };
        // A server that waits for the rest of a body learns that none is coming. One that has gone does not care.
        if sent.is_err() {
            drop(to_server.shutdown().await);
        }
        // A server may answer before it has read everything, and continue afterwards.
        pending::<Infallible>().await
    };
    tokio::select! {
        never = sending => match never {},
        answered = copy(&mut from_server, &mut to_client) => if matches!(answered, Ok(0)) { Err(NoAnswer) } else { Ok(()) },
        () = last.is_over(IDLE) => Ok(()),
    }
}
