//! A server's tool as our agents have it. It decides nothing: the gate has let the call through by the tool's name.

use std::sync::Arc;

use serde_json::{Map, Value};
use sortie_protocol::{Fault, ToolOutput, ToolSpec};
use sortie_tools::{BoxFuture, CallContext, Tool};

use super::connection::Connection;
use super::content::output;
use super::listing::ListedTool;
use super::trouble::Trouble;

/// What a model reads of one output; the whole is kept in a file.
const MAX_OUTPUT_BYTES: usize = 30_000;

pub(super) struct RemoteTool {
    listed: ListedTool,
    connection: Arc<Connection>,
}

impl RemoteTool {
    pub(super) fn new(listed: &ListedTool, connection: &Arc<Connection>) -> Self {
        Self { listed: listed.clone(), connection: Arc::clone(connection) }
    }

    async fn call(&self, arguments: Map<String, Value>, context: CallContext<'_>) -> Result<ToolOutput, Trouble> {
        let stopped = || Trouble::Stopped { tool: self.listed.spec.name.clone() };
        let ready = async {
            let link = self.connection.connected().await?;
            // What a person has read and approved is what runs, or nothing does.
            let now = link.listing().await?;
            if now.pin_of(&self.listed.own_name) != Some(&self.listed.pin) {
                return Err(Trouble::Changed { tool: self.listed.spec.name.clone() });
            }
            Ok(link)
        };
        let link = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(stopped()),
            link = ready => link?,
        };
        let call = (self.listed.own_name.as_str(), arguments);
        let result = link.call(call, self.connection.call_within(), context.cancel).await?;
        Ok(output(result))
    }
}

impl Tool for RemoteTool {
    fn spec(&self) -> ToolSpec {
        self.listed.spec.clone()
    }

    /// Never: that a call can be repeated without harm is only the server's word. One that was broken off is told as
    /// unknown.
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
                let text = format!("{name} was not run: its arguments are no JSON object");
                return ToolOutput::not_run(text).because(Fault::Arguments);
            };
            self.call(arguments, context).await.unwrap_or_else(Trouble::into_output)
        })
    }
}
