//! One TCP connection: buffered reading, plain writing, and detection of a client that is gone.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const READ_BYTES: usize = 16 * 1024;

pub(super) struct Connection {
    stream: TcpStream,
    /// Received bytes that were not taken yet.
    inbox: Vec<u8>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, inbox: Vec::with_capacity(READ_BYTES) })
    }

    /// Returns the received bytes that were not taken yet.
    pub(super) fn arrived(&self) -> &[u8] {
        &self.inbox
    }

    /// Takes the first `bytes` of the received bytes, which must exist.
    pub(super) fn take(&mut self, bytes: usize) -> Vec<u8> {
        let rest = self.inbox.split_off(bytes);
        std::mem::replace(&mut self.inbox, rest)
    }

    /// Waits for more bytes. `false`: the client has closed its side.
    pub(super) async fn read_more(&mut self) -> io::Result<bool> {
        self.inbox.reserve(READ_BYTES);
        Ok(self.stream.read_buf(&mut self.inbox).await? > 0)
    }

    /// Sends in one write, as far as the kernel accepts it.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Waits for `future`, but no longer than until the client disconnects.
    pub(super) async fn unless_closed<T>(&mut self, future: impl Future<Output = T>) -> io::Result<T> {
        tokio::select! {
            done = future => Ok(done),
            closed = self.closed() => closed.map(|never| match never {}),
        }
    }

    /// Waits until the client disconnects.
    pub(super) async fn closed(&mut self) -> io::Result<Infallible> {
        while self.read_more().await? {}
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}
