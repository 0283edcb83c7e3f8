//! What a server says without being asked. Only that its tools have changed matters; whatever it asks of us is declined.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{NotificationContext, RoleClient};

#[derive(Debug, Clone, Default)]
pub(super) struct Listener {
    has_changed: Arc<AtomicBool>,
}

impl Listener {
    /// Whether the tools have changed since this was last asked.
    pub(super) fn take_changed(&self) -> bool {
        self.has_changed.swap(false, Ordering::AcqRel)
    }

    pub(super) fn note_changed(&self) {
        self.has_changed.store(true, Ordering::Release);
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("sortie", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.note_changed();
    }
}
