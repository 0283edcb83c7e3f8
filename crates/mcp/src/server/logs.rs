//! Log messages for a host that has set a level: the end of each task that a call waited for, and failures.
//!
//! Deprecated by the protocol from 2026-07-28 on, which has no level to set; hosts of older revisions use it.
#![expect(deprecated, reason = "older hosts ask for it")]

use std::sync::{Mutex, PoisonError};

use rmcp::model::{CallToolResponse, CallToolResult, LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{Peer, RoleServer};
use serde_json::json;

/// The lowest level that the host of a session wants; until it sets one, it gets nothing.
#[derive(Debug, Default)]
pub(super) struct Logs {
    wanted: Mutex<Option<LoggingLevel>>,
}

impl Logs {
    pub(super) fn set(&self, level: LoggingLevel) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Tells the host how a call of this tool ended.
    pub(super) async fn note(&self, peer: &Peer<RoleServer>, tool: &str, answer: &CallToolResponse) {
        let CallToolResponse::Complete(result) = answer else { return };
        let level = if result.is_error == Some(true) { LoggingLevel::Warning } else { LoggingLevel::Info };
        let wanted = *self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.is_none_or(|wanted| (level as u8) < (wanted as u8)) {
            return;
        }
        let message = LoggingMessageNotificationParam::new(level, json!(format!("{tool}: {}", first_line(result))));
        // A host that is gone has nothing to read.
        peer.notify_logging_message(message.with_logger("sortie")).await.ok();
    }
}

fn first_line(result: &CallToolResult) -> &str {
    let text = result.content.iter().find_map(|content| content.as_text());
    text.and_then(|text| text.text.lines().next()).unwrap_or_default()
}
