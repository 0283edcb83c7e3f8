//! Lists that change: two tools announce changes, and every listener receives them.

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::SubscriptionContext;
use tokio::sync::broadcast::Sender;

/// Most changes that a slow listener may lag behind.
const BACKLOG: usize = 16;

#[derive(Debug, Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

pub(crate) struct Changes(Sender<Change>);

impl Default for Changes {
    fn default() -> Self {
        Self(Sender::new(BACKLOG))
    }
}

impl Changes {
    pub(crate) fn answer(&self, call: &CallToolRequestParams) -> Option<CallToolResult> {
        let change = match &*call.name {
            "test_trigger_tool_change" => Change::Tools,
            "test_trigger_prompt_change" => Change::Prompts,
            _ => return None,
        };
        // There may be no listener.
        self.0.send(change).ok();
        Some(CallToolResult::success(vec![ContentBlock::text("Those who listen are told.")]))
    }

    /// Reports each change to one listener until it is gone. The sink drops changes that it did not request.
    pub(crate) async fn tell(&self, listener: &SubscriptionContext) {
        let mut changes = self.0.subscribe();
        loop {
            let change = tokio::select! {
                () = listener.cancelled() => return,
                change = changes.recv() => change,
            };
            let sink = listener.sink();
            match change {
                Ok(Change::Tools) => sink.notify_tool_list_changed().await.ok(),
                Ok(Change::Prompts) => sink.notify_prompt_list_changed().await.ok(),
                Err(_) => return,
            };
        }
    }
}
