//! Notifications: messages that a server sends unasked. Only changes of its tools and progress of calls matter; its
//! requests to us are declined.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, RoleClient};
use tokio::sync::watch;

#[derive(Debug, Clone, Default)]
pub(super) struct NotificationListener {
    changes: Arc<AtomicU64>,
    followed: Followed,
}

/// Progress of each pending request.
type Followed = Arc<Mutex<HashMap<ProgressToken, watch::Sender<f64>>>>;

impl NotificationListener {
    /// Number of changes of the tools. Callers store it with the list, which is valid while the number stays the same:
    /// a list request that is aborted misses no change.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Watches for progress of a request until the returned value is dropped.
    pub(super) fn follow(&self, token: ProgressToken) -> Signs {
        let (sender, progress) = watch::channel(f64::NEG_INFINITY);
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), sender);
        Signs { token, progress, followed: Arc::clone(&self.followed) }
    }

    /// True if any request is pending.
    pub(super) fn is_awaited(&self) -> bool {
        !self.followed.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Marks the tools as changed.
    pub(super) fn has_changed(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    fn has_come(&self, token: &ProgressToken, progress: f64) {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = followed.get(token) {
            sender.send_if_modified(|before| {
                let has_grown = progress > *before;
                *before = if has_grown { progress } else { *before };
                has_grown
            });
        }
    }
}

/// Progress signs of one request.
pub(super) struct Signs {
    token: ProgressToken,
    progress: watch::Receiver<f64>,
    followed: Followed,
}

impl Signs {
    /// Waits until the server reports more progress than ever before. The same number again is not a sign: the protocol
    /// requires it to grow.
    pub(super) async fn next(&mut self) {
        if self.progress.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Signs {
    fn drop(&mut self) {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

impl ClientHandler for NotificationListener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("sortie", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.has_changed();
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.has_come(&params.progress_token, params.progress);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    pub(in crate::client) fn token() -> ProgressToken {
        ProgressToken(NumberOrString::Number(7))
    }

    impl NotificationListener {
        /// Simulates a notification of the server.
        pub(in crate::client) fn hears(&self, progress: f64) {
            self.has_come(&token(), progress);
        }
    }

    #[test]
    fn no_progress_is_kept_for_finished_requests() {
        let listener = NotificationListener::default();
        let signs = listener.follow(token());
        listener.hears(1.0);
        assert!(signs.progress.has_changed().unwrap() && listener.is_awaited());
        drop(signs);
        listener.hears(2.0);
        assert!(!listener.is_awaited());
    }
}
