//! Timeout for writes: a connection waits only so long for its reader. A client that stays connected and reads nothing
//! would also hold up the work behind the connection.
//!
//! A connection that ends with a refusal is read to its end, within bounds. If it were closed while its client still
//! sends, the refusal would be lost.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::http_request::Bounds;

pub(super) struct WriteTimeout {
    stream: TcpStream,
    write_time: Duration,
    body_time: Duration,
    /// True if the last reply was a refusal, so its client may still be sending.
    has_refused: Arc<AtomicBool>,
    /// Runs from the end of the last reply.
    farewell: Option<Pin<Box<Sleep>>>,
    /// Runs while a write waits.
    patience: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    pub(super) fn new(stream: TcpStream, bounds: &Bounds, has_refused: Arc<AtomicBool>) -> Self {
        let &Bounds { write_time, body_time, .. } = bounds;
        Self { stream, write_time, body_time, has_refused, farewell: None, patience: None }
    }

    /// Passes on the result of a write, unless it has waited too long.
    fn bounded(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.patience = None;
            return written;
        }
        let write_time = self.write_time;
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(write_time)));
        patience.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Reads and discards further input, until the client is done or the time for a body is over.
    fn hear_out(&mut self, farewell: &mut Pin<Box<Sleep>>, context: &mut Context<'_>) -> Poll<()> {
        while farewell.as_mut().poll(context).is_pending() {
            let mut bytes = [0; 8 << 10];
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut farewell = if let Some(farewell) = self.farewell.take() {
            farewell
        } else {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            Box::pin(tokio::time::sleep(self.body_time))
        };
        if !self.has_refused.load(Ordering::Acquire) {
            return Poll::Ready(Ok(()));
        }
        let heard = self.hear_out(&mut farewell, context);
        self.farewell = Some(farewell);
        heard.map(Ok)
    }
}
