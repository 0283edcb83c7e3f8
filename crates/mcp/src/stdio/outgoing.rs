//! The output stream, one message after the other. A slow reader is waited for, but not for ever: unwritten messages
//! hold up the whole session.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::service::{RoleServer, TxJsonRpcMessage};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use crate::session::time_limits::{LAST_WORDS, WRITE_TIME};

/// Unwritten messages at which no more input is taken.
const MAX_UNWRITTEN: usize = 256;

/// Output stream. Clones share it.
pub(super) struct Outgoing<W>(Arc<Shared<W>>);

struct Shared<W> {
    /// `None` once nobody reads it.
    stream: Mutex<Option<W>>,
    /// Number of waiting messages.
    unwritten: AtomicUsize,
    fewer: Notify,
    gone: CancellationToken,
    unheard: CancellationToken,
}

impl<W> Clone for Outgoing<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Outgoing<W> {
    /// Creates the stream; `gone` means that the host is gone, and is cancelled when nobody reads.
    pub(super) fn new(stream: W, gone: CancellationToken) -> Self {
        let (unwritten, fewer, unheard) = (AtomicUsize::new(0), Notify::new(), CancellationToken::new());
        Self(Arc::new(Shared { stream: Mutex::new(Some(stream)), unwritten, fewer, gone, unheard }))
    }

    /// Writes a message after all earlier ones. After the first failed write nothing more is tried.
    pub(super) fn write(
        &self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let waits = OneUnwritten::new(&self.0);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            drop(message);
            line.push(b'\n');
            waits.0.write(&line).await
        }
    }

    /// Waits until the queue is short enough. There must be only one waiter.
    pub(super) async fn has_room(&self) {
        while self.0.unwritten.load(Ordering::Acquire) >= MAX_UNWRITTEN {
            self.0.fewer.notified().await;
        }
    }

    /// Waits until it is known that nobody reads any more.
    pub(super) async fn is_unheard(&self) {
        self.0.unheard.cancelled().await;
    }

    /// Waits for pending writes.
    pub(super) async fn settled(&self) {
        drop(self.0.stream.lock().await);
    }
}

impl<W: AsyncWrite + Send + Unpin> Shared<W> {
    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut stream = self.stream.lock().await;
        let Some(open) = stream.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let writing = async {
            open.write_all(line).await?;
            open.flush().await
        };
        let written = tokio::select! {
            biased;
            written = writing => written,
            () = self.patience() => Err(io::ErrorKind::TimedOut.into()),
        };
        if written.is_err() {
            *stream = None;
            self.unheard.cancel();
            self.gone.cancel();
        }
        written
    }

    /// Time limit for one message; shorter when the host is gone.
    async fn patience(&self) {
        let without_host = async {
            self.gone.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            () = tokio::time::sleep(WRITE_TIME) => {}
            () = without_host => {}
        }
    }
}

/// Counts a waiting message for as long as it lives.
struct OneUnwritten<W>(Arc<Shared<W>>);

impl<W> OneUnwritten<W> {
    fn new(shared: &Arc<Shared<W>>) -> Self {
        shared.unwritten.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(shared))
    }
}

impl<W> Drop for OneUnwritten<W> {
    fn drop(&mut self) {
        self.0.unwritten.fetch_sub(1, Ordering::AcqRel);
        self.0.fewer.notify_one();
    }
}
