//! Lists that change: two tools say so, and whoever listens is told.

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::SubscriptionContext;
use tokio::sync::broadcast::Sender;

/// How many changes a slow listener may be behind.
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
        // Nobody may be listening.
        self.0.send(change).ok();
        Some(CallToolResult::success(vec![ContentBlock::text("Those who listen are told.")]))
    }

    /// Tells one listener of each change until it goes away. What it did not ask for the sink refuses.
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
