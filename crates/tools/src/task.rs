//! Task: delegation as an ordinary tool. What it says and understands is the contract's; what it does, the engine's.

use std::sync::Arc;

use sortie_contract::{AgentLine, Contract};
use sortie_protocol::{Status, ToolOutput, ToolSpec};

use crate::{BoxFuture, CallContext, Tool};

/// The tool that sends a sub-agent out.
pub struct TaskTool {
    contract: Arc<dyn Contract>,
    spec: ToolSpec,
}

impl TaskTool {
    /// `agents` are those that the tool's description lists.
    pub fn new(contract: Arc<dyn Contract>, agents: &[AgentLine]) -> Self {
        let spec = ToolSpec {
            name: contract.tool_name().to_owned(),
            description: contract.description(agents),
            schema: contract.schema(agents),
        };
        Self { contract, spec }
    }
}

impl Tool for TaskTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn idempotent(&self) -> bool {
        false
    }

    fn delegates(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let started = match self.contract.decode(arguments) {
                Ok(request) => context.delegation.delegate(context.call, request).await,
                Err(failure) => Err(failure),
            };
            match started {
                Ok(outcome) => ToolOutput {
                    for_model: self.contract.encode_for_model(&outcome, &context.delegation.fresh_mark()),
                    for_people: format!("{} {}", outcome.task_id, outcome.status),
                    failed: !matches!(outcome.status, Status::Completed | Status::Partial),
                    files_changed: outcome.files_changed,
                    attachments: Vec::new(),
                },
                Err(failure) => ToolOutput::failure(self.contract.rejection_for_model(&failure)),
            }
        })
    }
}
