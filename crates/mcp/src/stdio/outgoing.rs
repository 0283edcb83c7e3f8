//! The stream that messages leave by, one after the other. Who does not read is waited for, but not for ever: what
//! waits to be written keeps the whole session.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::service::{RoleServer, TxJsonRpcMessage};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use crate::session::time_limits::{LAST_WORDS, WRITE_TIME};

/// Messages that may wait to be written before nothing more is taken in.
const MAX_UNWRITTEN: usize = 256;

/// Clones are the same stream.
pub(super) struct Outgoing<W>(Arc<Shared<W>>);

struct Shared<W> {
    /// `None` when nobody reads it any more.
    stream: Mutex<Option<W>>,
    /// How many messages wait.
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
    /// `gone` says that the host is gone, and is cancelled when nobody reads.
    pub(super) fn new(stream: W, gone: CancellationToken) -> Self {
        let (unwritten, fewer, unheard) = (AtomicUsize::new(0), Notify::new(), CancellationToken::new());
        Self(Arc::new(Shared { stream: Mutex::new(Some(stream)), unwritten, fewer, gone, unheard }))
    }

    /// Writes a message when all before it are written. The first one that cannot be written is the last one tried.
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

    /// Waits until few enough messages wait. Only one does.
    pub(super) async fn has_room(&self) {
        while self.0.unwritten.load(Ordering::Acquire) >= MAX_UNWRITTEN {
            self.0.fewer.notified().await;
        }
    }

    /// Waits until it is known that nobody reads any more.
    pub(super) async fn is_unheard(&self) {
        self.0.unheard.cancelled().await;
    }

    /// Waits for what is being written.
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

    /// How long one message may take: less when the host is gone.
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

/// A message that waits to be written, as long as this is kept.
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
