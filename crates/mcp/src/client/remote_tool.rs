//! A server's tool as our agents see it. It decides nothing: the gate has admitted the call by the tool's name.

use std::sync::Arc;

use serde_json::{Map, Value};
use sortie_protocol::{Fault, ToolOutput, ToolSpec};
use sortie_tools::{BoxFuture, CallContext, Tool};

use crate::client::connection::Connection;
use crate::client::live_connection::Attempt;
use crate::client::server_error::ServerError;
use crate::client::tool_listing::ListedTool;
use crate::transport::{LOAN, REPAYMENT};

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
    async fn call(&self, arguments: Map<String, Value>, context: CallContext<'_>) -> Result<ToolOutput, ServerError> {
        match self.try_call(arguments.clone(), Attempt::First, context).await {
            Err(ServerError::SessionGone { .. }) => self.try_call(arguments, Attempt::Last, context).await,
            done => done,
        }
    }

    async fn try_call(
        &self,
        arguments: Map<String, Value>,
        attempt: Attempt,
        context: CallContext<'_>,
    ) -> Result<ToolOutput, ServerError> {
        let cancel = context.cancel;
        let (link, now) = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ServerError::Stopped { tool: self.listed.spec.name.clone() }),
            listed = self.connection.listed_for_call(attempt) => listed?,
        };
        // Only the definition that a person read and approved may run.
        if now.pin_of(&self.listed.own_name) != Some(&self.listed.pin) {
            return Err(ServerError::Changed { tool: self.listed.spec.name.clone() });
        }
        let Some(lender) = context.lender.filter(|_| self.connection.is_sortie()) else {
            return Ok(link.call(&self.listed.own_name, arguments, None, attempt, cancel).await?.into_output());
        };
        // It works for the calling task, within its limits, and says what it has used.
        let lent = match lender.lend().await {
            Ok(lent) => lent,
            Err(failure) => {
                return Ok(ToolOutput::not_run(format!("{} was not run: {failure}", self.listed.spec.name)));
            }
        };
        let loan = serde_json::to_value(lent.loan()).unwrap_or_default();
        let meta = Map::from_iter([(LOAN.to_owned(), loan)]);
        let answer = link.call(&self.listed.own_name, arguments, Some(meta), attempt, cancel).await?;
        // Without figures, everything that was lent counts as used.
        if let Some(used) = answer.noted(REPAYMENT)
            && let Err(failure) = lent.settle(used).await
        {
            return Ok(ToolOutput::failure(failure.to_string()));
        }
        Ok(answer.into_output())
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
            self.call(arguments, context).await.unwrap_or_else(ServerError::into_output)
        })
    }
}
