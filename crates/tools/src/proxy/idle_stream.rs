//! `IdleStream`: a stream that records when a byte last passed, so that silent connections can be ended.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// A stream that records when a byte last passed.
pub(super) struct IdleStream<S> {
    stream: S,
    last: Last,
}

/// The time of the last byte.
#[derive(Clone)]
pub(super) struct Last(Arc<Mutex<Instant>>);

impl<S> IdleStream<S> {
    pub(super) fn new(stream: S) -> (Self, Last) {
        let last = Last(Arc::new(Mutex::new(Instant::now())));
        (Self { stream, last: last.clone() }, last)
    }
}

impl Last {
    /// Returns once nothing has passed for this long.
    pub(super) async fn is_over(&self, idle: Duration) {
        loop {
            let until = *self.moment() + idle;
            if Instant::now() >= until {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn is_now(&self) {
        *self.moment() = Instant::now();
    }

    fn moment(&self) -> MutexGuard<'_, Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > n_before {
            self.last.is_now();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(polled, Poll::Ready(Ok(n_bytes)) if n_bytes > 0) {
            self.last.is_now();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::advance;

    use super::*;

    const IDLE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn bytes_in_either_direction_postpone_the_end() {
        let (near, mut far) = duplex(64);
        let (mut near, last) = IdleStream::new(near);
        let begin = Instant::now();
        let talk = async {
            advance(IDLE / 2).await;
            near.write_all(b"a").await.unwrap();
            advance(IDLE / 2).await;
            far.write_all(b"b").await.unwrap();
            near.read_u8().await.unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = talk => {}
            () = last.is_over(IDLE) => {}
        }
        assert_eq!(begin.elapsed(), IDLE * 2);
    }
}
