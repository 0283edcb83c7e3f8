//! A server's tool as our agents see it. It decides nothing: the gate has admitted the call by the tool's name.

use std::sync::Arc;

use serde_json::{Map, Value};
use sortie_protocol::{Fault, ToolOutput, ToolSpec};
use sortie_tools::{BoxFuture, CallContext, Tool};
use tokio_util::sync::CancellationToken;

use crate::client::connection::Connection;
use crate::client::live_connection::Attempt;
use crate::client::server_error::ServerError;
use crate::client::tool_listing::ListedTool;

/// Longest part of an output that a model reads; the full text is kept in a file.
const MAX_OUTPUT_BYTES: usize = 30_000;

pub(super) struct RemoteTool {
    listed: ListedTool,
    connection: Arc<Connection>,
}

impl RemoteTool {
    pub(super) fn new(listed: &ListedTool, connection: &Arc<Connection>) -> Self {
        Self { listed: listed.clone(), connection: Arc::clone(connection) }
    }

    /// Calls the tool, and calls it again in a new session if the server had ended the session. It did not look at the
    /// first call.
    async fn call(&self, arguments: Map<String, Value>, cancel: &CancellationToken) -> Result<ToolOutput, ServerError> {
        match self.try_call(arguments.clone(), Attempt::First, cancel).await {
            Err(ServerError::SessionGone { .. }) => self.try_call(arguments, Attempt::Last, cancel).await,
            done => done,
        }
    }

    async fn try_call(
        &self,
        arguments: Map<String, Value>,
        attempt: Attempt,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ServerError> {
        let (link, now) = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ServerError::Stopped { tool: self.listed.spec.name.clone() }),
            listed = self.connection.listed_for_call(attempt) => listed?,
        };
        // Only the definition that a person read and approved may run.
        if now.pin_of(&self.listed.own_name) != Some(&self.listed.pin) {
            return Err(ServerError::Changed { tool: self.listed.spec.name.clone() });
        }
        Ok(link.call(&self.listed.own_name, arguments, attempt, cancel).await?.into_output())
    }
}

impl Tool for RemoteTool {
    fn spec(&self) -> ToolSpec {
        self.listed.spec.clone()
    }

    /// Always false: only the server claims that a call can be repeated safely. The effect of an aborted call is
    /// reported as unknown.
    fn idempotent(&self) -> bool {
        false
    }

    fn delegates(&self) -> bool {
        false
    }

    fn pin(&self) -> Option<&str> {
        Some(&self.listed.pin)
    }

    fn most_bytes(&self) -> Option<usize> {
        Some(MAX_OUTPUT_BYTES)
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let text = if arguments.trim().is_empty() { "{}" } else { arguments };
            let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(text) else {
                let name = &self.listed.spec.name;
                let text = format!("{name} was not run: its arguments are not a JSON object");
                return ToolOutput::not_run(text).because(Fault::Arguments);
            };
            self.call(arguments, context.cancel).await.unwrap_or_else(ServerError::into_output)
        })
    }
}
